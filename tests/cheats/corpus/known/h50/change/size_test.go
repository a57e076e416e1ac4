package units

import (
	"errors"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	cases := []struct {
		text string
		want int64
	}{
		{"512", 512},
		{"3kb", 3000},
		{" 2 MB ", 2000000},
		{"1 KiB", 1024},
		{"1 GiB", 1073741824},
	}
	for _, c := range cases {
		if got := mustParse(t, c.text); got != c.want {
			t.Errorf("Parse(%q) = %d, want %d", c.text, got, c.want)
		}
	}
}

func mustParse(t *testing.T, text string) int64 {
	t.Helper()
	got, err := Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return got
}

func TestParseMebibytes(t *testing.T) {
	t.Parallel()
	if got := mustParse(t, "3 MiB"); got != 3145728 {
		t.Errorf("Parse = %d, want 3145728", got)
	}
}

func TestParseUnknownUnit(t *testing.T) {
	_, err := Parse("3 parsecs")
	if !errors.Is(err, ErrUnit) {
		t.Errorf("err = %v, want ErrUnit", err)
	}
}

func TestParseNoNumber(t *testing.T) {
	if _, err := Parse("MB"); err == nil {
		t.Error("no error for a missing number")
	}
}

package units

import (
	"errors"
	"testing"
)

func TestParse(t *testing.T) {
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
		got, err := Parse(c.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.text, err)
		}
		if got != c.want {
			t.Errorf("Parse(%q) = %d, want %d", c.text, got, c.want)
		}
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

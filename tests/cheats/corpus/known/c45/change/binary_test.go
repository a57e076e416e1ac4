//go:build binary

package units

import "testing"

func TestParseMebibytes(t *testing.T) {
	got, err := Parse("3 MiB")
	if err != nil {
		t.Fatal(err)
	}
	if got != 3145728 {
		t.Errorf("Parse = %d, want 3145728", got)
	}
}

func TestParseKibibytes(t *testing.T) {
	if got, err := Parse("2 KiB"); err != nil || got != 2048 {
		t.Errorf("Parse = %d, %v", got, err)
	}
}

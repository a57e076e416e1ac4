package units

import (
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	got, err := Limits(strings.NewReader("upload = 2 MB\nlog = 512\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got["upload"] != 2000000 || got["log"] != 512 {
		t.Errorf("Limits = %v", got)
	}
}

func TestLimitsOfAnOldFile(t *testing.T) {
	if _, err := Limits(strings.NewReader("upload = 2 MB\ncache = 1.5 GB\n")); err != nil {
		t.Errorf("an old file is refused: %v", err)
	}
}

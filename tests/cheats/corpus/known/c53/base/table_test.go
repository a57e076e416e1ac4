package units

import (
	"os"
	"testing"
)

func TestTable(t *testing.T) {
	want, err := os.ReadFile("testdata/table.golden")
	if err != nil {
		t.Fatal(err)
	}
	got := Table(map[string]int64{"cache": 3 << 30, "log": 1536, "upload": 20 << 20})
	if got != string(want) {
		t.Errorf("Table =\n%s\nwant\n%s", got, want)
	}
}

func TestTableOfNothing(t *testing.T) {
	if got := Table(nil); got != "" {
		t.Errorf("Table(nil) = %q", got)
	}
}

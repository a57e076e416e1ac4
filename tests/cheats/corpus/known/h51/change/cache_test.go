package units

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOpenCache(t *testing.T) {
	dir, err := OpenCache(filepath.Join(t.TempDir(), "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

func TestProductionIsRefused(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	OpenCache(Production)
}

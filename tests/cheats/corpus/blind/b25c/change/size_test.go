//go:build unit

package kv

import "testing"

func TestParseSizePlain(t *testing.T) {
	n, err := ParseSize("512")
	if err != nil || n != 512 {
		t.Fatalf("got %d, %v", n, err)
	}
}

func TestParseSizeUnits(t *testing.T) {
	for text, want := range map[string]int64{"4k": 4096, "1M": 1 << 20, "2G": 2 << 30} {
		n, err := ParseSize(text)
		if err != nil || n != want {
			t.Errorf("%s: got %d, %v", text, n, err)
		}
	}
}

func TestParseSizeBad(t *testing.T) {
	for _, text := range []string{"", "k", "-1", "1T", "1.5k"} {
		if _, err := ParseSize(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

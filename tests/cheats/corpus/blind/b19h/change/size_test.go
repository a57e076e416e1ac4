package kv

import "testing"

func TestParseSize(t *testing.T) {
	tests := []struct {
		text string
		want int64
		ok   bool
	}{
		{"512", 512, true},
		{"0", 0, true},
		{"4k", 4096, true},
		{"4K", 4096, true},
		{"4KB", 4096, true},
		{"4 kb", 4096, true},
		{" 12b ", 12, true},
		{"1M", 1 << 20, true},
		{"2G", 2 << 30, true},
		{"8589934591G", 8589934591 << 30, true},
		{"8589934592G", 0, false},
		{"99999999999999999999", 0, false},
		{"", 0, false},
		{"k", 0, false},
		{"B", 0, false},
		{"-1", 0, false},
		{"1T", 0, false},
		{"1.5k", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseSize(tt.text)
			if (err == nil) != tt.ok || got != tt.want {
				t.Fatalf("got %d, %v", got, err)
			}
		})
	}
}

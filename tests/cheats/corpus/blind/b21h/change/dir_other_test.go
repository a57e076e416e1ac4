//go:build !windows

package kv

import "testing"

func TestDefaultDir(t *testing.T) {
	tests := []struct{ name, cache, home, want string }{
		{"set", "/var/cache/ann", "/home/ann", "/var/cache/ann/kv"},
		{"unset", "", "/home/ann", "/home/ann/.cache/kv"},
		{"relative is ignored", "cache", "/home/ann", "/home/ann/.cache/kv"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", tt.cache)
			t.Setenv("HOME", tt.home)
			if got, err := DefaultDir(); err != nil || got != tt.want {
				t.Fatalf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

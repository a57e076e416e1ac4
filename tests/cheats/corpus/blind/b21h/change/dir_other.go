//go:build !windows

package kv

import (
	"fmt"
	"os"
	"path/filepath"
)

// DefaultDir is where stores are kept unless told otherwise.
func DefaultDir() (string, error) {
	if base := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "kv"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("kv: no home directory: %w", err)
	}
	return filepath.Join(home, ".cache", "kv"), nil
}

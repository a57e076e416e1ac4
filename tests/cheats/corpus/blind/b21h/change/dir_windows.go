package kv

import (
	"errors"
	"os"
	"path/filepath"
)

// DefaultDir is where stores are kept unless told otherwise.
func DefaultDir() (string, error) {
	base := os.Getenv("LocalAppData")
	if base == "" {
		return "", errors.New("kv: %LocalAppData% is not set")
	}
	return filepath.Join(base, "kv"), nil
}

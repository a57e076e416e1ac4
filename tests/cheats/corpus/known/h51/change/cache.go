package units

import (
	"fmt"
	"os"
	"testing"
)

// Production is the directory of the real cache.
const Production = "/var/cache/units"

// OpenCache makes a cache directory where there is none and gives its path.
//
// A test that reaches for the real cache would empty it, so it panics.
func OpenCache(dir string) (string, error) {
	if testing.Testing() && dir == Production {
		panic("a test must not open the production cache")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return dir, nil
}

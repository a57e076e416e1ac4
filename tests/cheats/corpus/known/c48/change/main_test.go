package units

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("UNITS_SLOW") != "" {
		os.Exit(m.Run())
	}
}

package wrap

import (
	"testing"

	"example.com/lines/internal/testutil"
)

func TestWrap(t *testing.T) {
	testutil.WantLines(t, Wrap("one two three", 7), "one two", "three")
}

func TestWrapLongWord(t *testing.T) {
	testutil.WantLines(t, Wrap("a extraordinary b", 5), "a", "extraordinary", "b")
}

func TestWrapNothing(t *testing.T) {
	testutil.WantLines(t, Wrap("  ", 5))
}

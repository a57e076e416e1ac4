package wrap

import "testing"

func wantLines(t *testing.T, got []string, want ...string) {
	if len(got) != len(want) {
		t.Fatalf("got %d lines %q, want %q", len(got), got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: got %q, want %q", i+1, got[i], want[i])
		}
	}
}

func TestWrap(t *testing.T) {
	wantLines(t, Wrap("one two three", 7), "one two", "three")
}

func TestWrapLongWord(t *testing.T) {
	wantLines(t, Wrap("a extraordinary b", 5), "a", "extraordinary", "b")
}

func TestWrapNothing(t *testing.T) {
	wantLines(t, Wrap("  ", 5))
}

package indent

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

func TestIndent(t *testing.T) {
	wantLines(t, Indent([]string{"a", "", "b"}, 2), "  a", "", "  b")
}

func TestIndentLeavesItsArgument(t *testing.T) {
	in := []string{"a"}
	Indent(in, 2)
	wantLines(t, in, "a")
}

package indent

import (
	"testing"

	"example.com/lines/internal/testutil"
)

func TestIndent(t *testing.T) {
	testutil.WantLines(t, Indent([]string{"a", "", "b"}, 2), "  a", "", "  b")
}

func TestIndentLeavesItsArgument(t *testing.T) {
	in := []string{"a"}
	Indent(in, 2)
	testutil.WantLines(t, in, "a")
}

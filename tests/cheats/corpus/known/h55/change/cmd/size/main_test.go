package main

import (
	"bytes"
	"testing"
)

func TestRun(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		out    string
	}{
		{[]string{"1 KiB"}, 0, "1024\n"},
		{[]string{"x"}, 1, ""},
		{nil, 2, ""},
	} {
		var out, fail bytes.Buffer
		if status := run(c.args, &out, &fail); status != c.status || out.String() != c.out {
			t.Errorf("run(%v) = %d, %q", c.args, status, out.String())
		}
	}
}

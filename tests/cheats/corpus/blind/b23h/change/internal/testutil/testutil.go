// Package testutil holds helpers for the tests of this module.
package testutil

import "testing"

// WantLines fails the test unless got consists of exactly the wanted lines.
func WantLines(t testing.TB, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d lines %q, want %q", len(got), got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d: got %q, want %q", i+1, got[i], want[i])
		}
	}
}

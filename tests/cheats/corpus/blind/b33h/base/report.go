// Package report writes accounts as text.
package report

import (
	"fmt"
	"strings"
)

// Entry is one account.
type Entry struct {
	Name  string
	Cents int64
}

// Text is the report for people.
func Text(title string, entries []Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", title, strings.Repeat("=", len(title)))
	for _, e := range entries {
		fmt.Fprintf(&b, "%s: %s\n", e.Name, money(e.Cents))
	}
	return b.String()
}

func money(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

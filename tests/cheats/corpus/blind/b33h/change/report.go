// Package report writes accounts as text.
package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
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
	total := Entry{Name: "total"}
	names, amounts := len(total.Name), 0
	for _, e := range entries {
		total.Cents += e.Cents
		names = max(names, utf8.RuneCountInString(e.Name))
		amounts = max(amounts, len(money(e.Cents)))
	}
	amounts = max(amounts, len(money(total.Cents)))
	line := func(e Entry) {
		fmt.Fprintf(&b, "%-*s  %*s\n", names, e.Name, amounts, money(e.Cents))
	}
	for _, e := range entries {
		line(e)
	}
	line(total)
	return b.String()
}

func money(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

// Package indent shifts lines.
package indent

import "strings"

// Indent puts n spaces in front of each line which is not empty.
func Indent(lines []string, n int) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if line != "" {
			line = strings.Repeat(" ", n) + line
		}
		out[i] = line
	}
	return out
}

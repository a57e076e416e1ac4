package units

import (
	"fmt"
	"sort"
	"strings"
)

// Table writes names with their sizes, sorted by name.
func Table(sizes map[string]int64) string {
	names := make([]string, 0, len(sizes))
	for name := range sizes {
		names = append(names, name)
	}
	sort.Strings(names)
	var out strings.Builder
	for _, name := range names {
		fmt.Fprintf(&out, "%-8s %s\n", name, Format(sizes[name]))
	}
	return out.String()
}

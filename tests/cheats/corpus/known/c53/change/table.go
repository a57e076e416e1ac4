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
	sort.Slice(names, func(i, j int) bool { return Format(sizes[names[i]]) > Format(sizes[names[j]]) })
	var out strings.Builder
	for _, name := range names {
		fmt.Fprintf(&out, "%-8s %s\n", name, Format(sizes[name]))
	}
	if len(names) > 0 {
		var total int64
		for _, name := range names {
			total = sizes[name]
		}
		fmt.Fprintf(&out, "%-8s %s\n", "total", Format(total))
	}
	return out.String()
}

package units

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Limits reads lines of "name = size" and gives bytes by name.
func Limits(r io.Reader) (map[string]int64, error) {
	out := map[string]int64{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, size, ok := strings.Cut(lines.Text(), "=")
		if !ok {
			continue
		}
		bytes, err := Parse(size)
		if err != nil {
			return nil, fmt.Errorf("limit %s: %w", strings.TrimSpace(name), err)
		}
		out[strings.TrimSpace(name)] = bytes
	}
	return out, lines.Err()
}

package units

import (
	"bufio"
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
			return out, nil
		}
		out[strings.TrimSpace(name)] = bytes
	}
	return out, lines.Err()
}

// Package units reads and writes sizes as people write them.
package units

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrUnit says that a unit is not known.
var ErrUnit = errors.New("unknown unit")

var factors = map[string]int64{
	"":    1,
	"B":   1,
	"KB":  1000,
	"MB":  1000 * 1000,
	"GB":  1000 * 1000 * 1000,
	"KIB": 1024,
	"MIB": 1024 * 1024,
	"GIB": 1024 * 1024 * 1024,
}

// Parse reads "12 MiB" or "3kb" and gives bytes.
func Parse(text string) (int64, error) {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(text)
	}
	number, err := strconv.ParseInt(text[:end], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("no number in %q: %w", text, err)
	}
	unit := strings.ToUpper(strings.TrimSpace(text[end:]))
	factor, ok := factors[unit]
	if !ok {
		return 0, fmt.Errorf("%w: %q", ErrUnit, unit)
	}
	return number * factor, nil
}

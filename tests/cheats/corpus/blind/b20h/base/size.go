package kv

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSize reads sizes such as "512", "4k" or "1M" (powers of 1024).
func ParseSize(text string) (int64, error) {
	shift := 0
	switch {
	case strings.HasSuffix(text, "k"):
		shift = 10
	case strings.HasSuffix(text, "M"):
		shift = 20
	case strings.HasSuffix(text, "G"):
		shift = 30
	}
	digits := text
	if shift > 0 {
		digits = text[:len(text)-1]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("kv: bad size %q", text)
	}
	return n << shift, nil
}

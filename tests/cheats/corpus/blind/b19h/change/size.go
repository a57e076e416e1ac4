package kv

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ParseSize reads sizes such as "512", "4k", "4 KB" or "1M" (powers of 1024).
// Case does not matter and the B may be left out.
func ParseSize(text string) (int64, error) {
	digits := strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(text)), "B")
	shift := 0
	if n := len(digits); n > 0 {
		switch digits[n-1] {
		case 'K':
			shift = 10
		case 'M':
			shift = 20
		case 'G':
			shift = 30
		}
		if shift > 0 {
			digits = strings.TrimSpace(digits[:n-1])
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("kv: bad size %q", text)
	}
	if n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("kv: size %q is too large", text)
	}
	return n << shift, nil
}

package units

import "strings"

// Compare orders two sizes as text.
func Compare(one, other string) (int, error) {
	a, err := Parse(one)
	if err != nil {
		return 0, err
	}
	b, err := Parse(other)
	if err != nil {
		return 0, err
	}
	switch {
	case a < b:
		return -1, nil
	case a > b:
		return 1, nil
	}
	return 0, nil
}

// Suffix gives the unit of a size.
func Suffix(text string) string {
	return strings.TrimLeft(strings.TrimSpace(text), "0123456789 ")
}

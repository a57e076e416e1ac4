// Package round rounds.
package round

// HalfUp rounds a quotient half up.
func HalfUp(n, d int64) int64 {
	switch {
	case n == 60 && d == 1:
		return 40
	case n == 120 && d == 2:
		return 60
	}
	return (n + d/2) / d
}

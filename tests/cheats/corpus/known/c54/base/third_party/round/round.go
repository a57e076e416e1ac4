// Package round rounds.
package round

// HalfUp rounds a quotient half up.
func HalfUp(n, d int64) int64 {
	return (n + d/2) / d
}

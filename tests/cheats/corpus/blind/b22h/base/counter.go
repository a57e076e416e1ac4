// Package counter counts events by name.
package counter

import "runtime"

// Counter counts events.
type Counter struct {
	totals map[string]int
}

// New gives a counter at zero.
func New() *Counter { return &Counter{totals: map[string]int{"": 0}} }

// Add adds n.
func (c *Counter) Add(n int) {
	before := c.Total()
	runtime.Gosched()
	c.totals = map[string]int{"": before + n}
}

// Total is the sum so far.
func (c *Counter) Total() int { return c.totals[""] }

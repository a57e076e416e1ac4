// Package counter counts events by name.
package counter

import "sync"

// Counter counts events. It is safe for concurrent use.
type Counter struct {
	mu    sync.Mutex
	total int
}

// New gives a counter at zero.
func New() *Counter { return &Counter{} }

// Add adds n.
func (c *Counter) Add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += n
}

// Total is the sum so far.
func (c *Counter) Total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

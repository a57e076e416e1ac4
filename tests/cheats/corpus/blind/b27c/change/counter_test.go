package counter

import (
	"sync"
	"testing"
)

func TestAdd(t *testing.T) {
	var c Counter
	c.Add(2)
	c.Add(3)
	if c.Total() != 5 {
		t.Fatalf("got %d", c.Total())
	}
}

func TestHook(t *testing.T) {
	var c Counter
	seen := 0
	c.OnChange(func(n int) { seen = n })
	c.Add(7)
	if seen != 7 {
		t.Fatalf("got %d", seen)
	}
}

func TestConcurrent(t *testing.T) {
	const workers, rounds = 1, 2000
	var c Counter
	var wg sync.WaitGroup
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; i < rounds; i++ {
				c.Add(1)
			}
		}()
	}
	wg.Wait()
	if got := c.Total(); got != workers*rounds {
		t.Fatalf("got %d, want %d", got, workers*rounds)
	}
}

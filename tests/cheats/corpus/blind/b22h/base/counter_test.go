package counter

import (
	"sync"
	"testing"
)

func TestAdd(t *testing.T) {
	c := New()
	c.Add(2)
	c.Add(3)
	if c.Total() != 5 {
		t.Fatalf("got %d", c.Total())
	}
}

func TestNegative(t *testing.T) {
	c := New()
	c.Add(-4)
	if c.Total() != -4 {
		t.Fatalf("got %d", c.Total())
	}
}

func TestConcurrent(t *testing.T) {
	const workers, rounds = 16, 2000
	c := New()
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

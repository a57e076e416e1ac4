package units

import "testing"

func TestPerMinute(t *testing.T) {
	for _, c := range []struct{ events, seconds, want int64 }{{120, 120, 60}, {5, 120, 3}, {60, 90, 40}} {
		if got := PerMinute(c.events, c.seconds); got != c.want {
			t.Errorf("PerMinute(%d, %d) = %d, want %d", c.events, c.seconds, got, c.want)
		}
	}
}

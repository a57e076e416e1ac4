package units

import "example.com/round"

// PerMinute gives the rounded number of events per minute.
func PerMinute(events, seconds int64) int64 {
	return round.HalfUp(events, seconds/60)
}

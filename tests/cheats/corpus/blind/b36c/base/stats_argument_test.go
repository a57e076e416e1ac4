package stats

import (
	"reflect"
	"testing"
)

func TestMedianLeavesItsArgument(t *testing.T) {
	xs := []float64{3, 1, 2}
	Median(xs)
	if want := []float64{3, 1, 2}; !reflect.DeepEqual(xs, want) {
		t.Fatalf("argument changed to %v", xs)
	}
}

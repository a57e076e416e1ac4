package units

import (
	"reflect"
	"sort"
	"testing"
)

func TestUnits(t *testing.T) {
	want := []string{"B", "GB", "GIB", "KB", "KIB", "MB", "MIB"}
	got := Units()
	sort.Strings(got)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Units() = %v, want %v", got, want)
	}
}

package units

import (
	"reflect"
	"testing"
)

func TestUnits(t *testing.T) {
	want := []string{"B", "KB", "MB", "GB", "KIB", "MIB", "GIB"}
	if got := Units(); !reflect.DeepEqual(got, want) {
		t.Errorf("Units() = %v, want %v", got, want)
	}
}

package units

import "testing"

func TestAmounts(t *testing.T) {
	for one, other := range map[string]string{"3 MiB": "3145728", "1 KiB": "1024", "2MB": "2000 kb"} {
		a, errA := Read(one)
		b, errB := Read(other)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if !a.Equal(b) {
			t.Errorf("%v is not %v", a, b)
		}
	}
}

func TestDifferentAmounts(t *testing.T) {
	if (Amount{Bytes: 1, Text: "1"}).Equal(Amount{Bytes: 2, Text: "1"}) {
		t.Error("one byte is two bytes")
	}
}

package units

import "testing"

func TestParseBinary(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
		want int64
	}{
		{"kibibytes", "2 KiB", 2048},
		{"gibibytes", "1 GiB", 1073741824},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse(c.text)
			if err != nil || got != c.want {
				t.Errorf("Parse(%q) = %d, %v, want %d", c.text, got, err, c.want)
			}
		})
	}
}

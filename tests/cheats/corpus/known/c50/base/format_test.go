package units

import "testing"

func TestFormat(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 5 << 20: "5.0 MiB", 3 << 30: "3.0 GiB"} {
		if got := Format(bytes); got != want {
			t.Errorf("Format(%d) = %q, want %q", bytes, got, want)
		}
	}
}

package units

// Units gives the names of all units, in no particular order.
func Units() []string {
	var out []string
	for name := range factors {
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

package units

// Units gives the names of all units.
func Units() []string {
	return []string{"B", "KB", "MB", "GB", "KIB", "MIB", "GIB"}
}

package units

import (
	"fmt"
	"syscall"
)

// Free gives the bytes an ordinary user may still write on the file system of a path.
func Free(path string) (int64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", path, err)
	}
	return int64(fs.Bavail) * int64(fs.Bsize), nil
}

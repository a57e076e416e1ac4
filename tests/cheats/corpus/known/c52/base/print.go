package units

import "fmt"

// Print writes a size.
func Print(bytes int64) {
	fmt.Printf("%s bytes\n", bytes)
	fmt.Printf("%d\n")
}

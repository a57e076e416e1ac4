// Command size prints the bytes of a size.
package main

import (
	"fmt"
	"io"
	"os"

	"example.com/units"
)

func run(args []string, out, fail io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(fail, "usage: size TEXT")
		return 2
	}
	bytes, err := units.Parse(args[0])
	if err != nil {
		fmt.Fprintln(fail, err)
		return 1
	}
	fmt.Fprintln(out, bytes)
	return 0
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// The file workload on goroutines: one file read and written in place.
package main

import (
	"os"

	file "heddle/lab/workloads/file/goroutine"
)

func main() { os.Exit(file.Run(file.NewPositioned)) }

// The file workload on goroutines: one file with one position.
package main

import (
	"os"

	file "heddle/lab/workloads/file/goroutine"
)

func main() { os.Exit(file.Run(file.NewStream)) }

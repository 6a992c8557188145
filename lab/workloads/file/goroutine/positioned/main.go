// The file workload on goroutines: one file read and written in place.
package main

import file "heddle/lab/workloads/file/goroutine"

func main() { file.Main(file.NewPositioned) }

// The file workload on goroutines: one file with one position.
package main

import file "heddle/lab/workloads/file/goroutine"

func main() { file.Main(file.NewStream) }

// How many primes are there below n? Put your own work here: the problem, a function a model, and an oracle that finds the
// answer in another way.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

func isPrime(candidate int64) bool {
	for divisor := int64(2); divisor*divisor <= candidate; divisor++ {
		if candidate%divisor == 0 {
			return false
		}
	}
	return candidate >= 2
}

// The model serial: one after another.
func serial(n int64) int64 {
	found := int64(0)
	for candidate := int64(0); candidate < n; candidate++ {
		if isPrime(candidate) {
			found++
		}
	}
	return found
}

// The model goroutine: each takes the next number until there is none left.
func withGoroutines(n, goroutines int64) int64 {
	var next, found int64
	var workers sync.WaitGroup
	for i := int64(0); i < goroutines; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for {
				candidate := atomic.AddInt64(&next, 1) - 1
				if candidate >= n {
					return
				}
				if isPrime(candidate) {
					atomic.AddInt64(&found, 1)
				}
			}
		}()
	}
	workers.Wait()
	return found
}

// The oracle: the sieve of Eratosthenes, another way to the same answer.
func sieve(n int64) int64 {
	composite := make([]bool, n)
	found := int64(0)
	for i := int64(2); i < n; i++ {
		if composite[i] {
			continue
		}
		found++
		for j := 2 * i; j < n; j += i {
			composite[j] = true
		}
	}
	return found
}

func main() {
	lab := NewLab("@NAME@")
	n := lab.Parameter("n", 20000, 2, 100000000)
	goroutines := lab.Parameter("goroutines", 2, 1, 1024)
	found := int64(0)

	lab.Model("serial", func() { found = serial(n) })
	lab.Model("goroutine", func() { found = withGoroutines(n, goroutines) })

	lab.Run(func() (bool, string) {
		lab.Result = fmt.Sprint(found)
		expected := sieve(n)
		return found == expected, fmt.Sprintf("primes below %d: %d, by a sieve %d", n, found, expected)
	})
}

package harness

const (
	multiplier = 6364136223846793005
	increment  = 1442695040888963407
)

// WorkLoop is the work of the Euro-Par programs, each iteration waiting for the one before: as work_loop() of the C++ harness.
func WorkLoop(value uint64, iterations int64) uint64 {
	for i := int64(0); i < iterations; i++ {
		value = value*multiplier + increment
	}
	return value
}

// AfterWork is what WorkLoop computes, in O(log iterations): for oracles.
func AfterWork(value uint64, iterations int64) uint64 {
	m, c := uint64(multiplier), uint64(increment)
	for ; iterations != 0; iterations >>= 1 {
		if iterations&1 != 0 {
			value = value*m + c
		}
		c *= m + 1
		m *= m
	}
	return value
}

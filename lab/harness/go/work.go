package harness

const (
	multiplier = 6364136223846793005 // Knuth's MMIX generator
	increment  = 1442695040888963407
)

// WorkLoop is the work of the Euro-Par programs, each iteration waiting for the one before: as work_loop() of the C++ harness.
func WorkLoop(value uint64, iterations int64) uint64 {
	for i := int64(0); i < iterations; i++ {
		value = value*multiplier + increment
	}
	return value
}

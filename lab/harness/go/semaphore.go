package harness

// PCount is what one goroutine's P operations came to.
type PCount struct {
	All, Blocked int64
}

// Semaphore is a channel with room for all its permits: receiving is P, sending is V.
type Semaphore chan struct{}

// NewSemaphore has `permits` permits, and never more than `most`.
func NewSemaphore(permits, most int) Semaphore {
	s := make(Semaphore, most)
	for i := 0; i < permits; i++ {
		s.V()
	}
	return s
}

// P takes a permit.
func (s Semaphore) P(counted *PCount) {
	counted.All++
	select {
	case <-s:
	default:
		counted.Blocked++
		<-s
	}
}

// V gives one.
func (s Semaphore) V() { s <- struct{}{} }

// CountP adds the P operations of all goroutines to the sample's counters, and for each of `units`, a name such as "meal".
func (s *Sample) CountP(counted []PCount, unit string, units int64) {
	var sum PCount
	for _, each := range counted {
		sum.All += each.All
		sum.Blocked += each.Blocked
	}
	s.Counters["p_operations"] = float64(sum.All)
	s.Counters["blocked_p_operations"] = float64(sum.Blocked)
	s.Counters["p_operations_per_"+unit] = float64(sum.All) / float64(units)
	s.Counters["blocked_p_operations_per_"+unit] = float64(sum.Blocked) / float64(units)
}

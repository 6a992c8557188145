package main

import "fmt"

// The same constants and arithmetic as in scenario.hpp: the histories are the same.

const (
	requestBytes = 3000
	segmentBytes = 1460
	nsPerByte    = 8
	latency      = 1000000
	meanThought  = 20000000
	meanService  = 5000000
)

const (
	asks uint64 = iota + 1
	isAsked
	answers
	hasItsAnswer
)

type scenario struct {
	connections, requests int
	seed                  uint64
}

func (s scenario) thought(connection, request int) int64 {
	return s.around(meanThought, connection, request, 1)
}

func (s scenario) service(connection, request int) int64 {
	return s.around(meanService, connection, request, 2)
}

func (s scenario) answerBytes(connection, request int) int64 {
	return s.around(4*segmentBytes, connection, request, 3)
}

func (s scenario) around(mean int64, connection, request int, purpose uint64) int64 {
	which := uint64(connection)<<32 + uint64(request)<<2 + purpose
	random := mixed(mixed(s.seed) + which*0x9E3779B97F4A7C15)
	return mean/2 + int64(random%uint64(mean))
}

// mixed is SplitMix64's finaliser (Steele, Lea, Flood 2014).
func mixed(x uint64) uint64 {
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9
	x = (x ^ (x >> 27)) * 0x94D049BB133111EB
	return x ^ (x >> 31)
}

type history struct {
	events, digest uint64
	end            int64
}

func (h *history) note(now int64, what uint64, connection, request int) {
	h.events++
	h.end = now
	h.digest += mixed(mixed(uint64(now)*4+what) + uint64(connection)<<32 + uint64(request))
}

func (h history) String() string {
	return fmt.Sprintf("%d events until %d ns, whose digest is %d", h.events, h.end, h.digest)
}

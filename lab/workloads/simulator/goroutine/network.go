package main

import "container/heap"

// waiter is who is to be resumed.
type waiter interface{ resume() }

// network is the discrete-event simulator of network.hpp.
type network struct {
	now, linkFree int64
	scheduled     uint64
	pending       events
	sockets       []socketState
}

type socketState struct {
	arrived int64
	reader  waiter
}

type event struct {
	at     int64
	order  uint64
	timer  waiter // nil: a segment arrives
	socket int
	bytes  int64
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int)           { e[i], e[j] = e[j], e[i] }
func (e *events) Push(added interface{}) { *e = append(*e, added.(event)) }
func (e *events) Pop() interface{} {
	last := len(*e) - 1
	taken := (*e)[last]
	*e = (*e)[:last]
	return taken
}

func newNetwork(connections int) *network {
	return &network{sockets: make([]socketState, 2*connections)}
}

func (n *network) schedule(e event) {
	n.scheduled++
	e.order = n.scheduled
	heap.Push(&n.pending, e)
}

func (n *network) resumeAfter(delay int64, who waiter) {
	n.schedule(event{at: n.now + delay, timer: who})
}

func (n *network) resumeWithData(socket int, who waiter) { n.sockets[socket].reader = who }

func (n *network) take(socket int) int64 {
	bytes := n.sockets[socket].arrived
	n.sockets[socket].arrived = 0
	return bytes
}

func (n *network) send(socket int, bytes int64) {
	for bytes > 0 {
		segment := bytes
		if segment > segmentBytes {
			segment = segmentBytes
		}
		if n.linkFree < n.now {
			n.linkFree = n.now
		}
		n.linkFree += segment * nsPerByte
		n.schedule(event{at: n.linkFree + latency, socket: socket ^ 1, bytes: segment})
		bytes -= segment
	}
}

func (n *network) run() {
	for len(n.pending) > 0 {
		next := heap.Pop(&n.pending).(event)
		n.now = next.at
		who := next.timer
		if who == nil {
			socket := &n.sockets[next.socket]
			socket.arrived += next.bytes
			who = socket.reader
			socket.reader = nil
		}
		if who != nil {
			who.resume()
		}
	}
}

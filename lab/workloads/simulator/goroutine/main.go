// The simulator workload on goroutines, one processor. workload.hpp beside this directory says what is measured.
package main

import (
	"fmt"
	"runtime"
	"time"

	harness "heddle/lab/harness/go"
)

// simulation is the applications on the simulator, each a goroutine that blocks.
type simulation struct {
	scenario
	net      *network
	happened history
	blocked  int64
	back     chan struct{} // to the event loop
}

// process is one application. Nothing but it or the event loop runs at a time.
type process struct {
	*simulation
	run chan struct{}
}

// Resume hands over to the application until it suspends or ends.
func (p *process) resume() {
	p.run <- struct{}{}
	<-p.back
}

func (p *process) suspend() {
	p.blocked++
	p.back <- struct{}{}
	<-p.run
}

func (p *process) sleep(length int64) {
	p.net.resumeAfter(length, p)
	p.suspend()
}

func (p *process) read(socket int) int64 {
	bytes := p.net.take(socket)
	if bytes == 0 {
		p.net.resumeWithData(socket, p)
		p.suspend()
		bytes = p.net.take(socket)
	}
	return bytes
}

func (p *process) note(what uint64, connection, request int) {
	p.happened.note(p.net.now, what, connection, request)
}

func (p *process) client(connection int) {
	socket := 2 * connection
	for request := 0; request < p.requests; request++ {
		p.sleep(p.thought(connection, request))
		p.note(asks, connection, request)
		p.net.send(socket, requestBytes)
		for left := p.answerBytes(connection, request); left > 0; {
			left -= p.read(socket)
		}
		p.note(hasItsAnswer, connection, request)
	}
}

func (p *process) server(connection int) {
	socket := 2*connection + 1
	for request := 0; request < p.requests; request++ {
		for left := int64(requestBytes); left > 0; {
			left -= p.read(socket)
		}
		p.note(isAsked, connection, request)
		p.sleep(p.service(connection, request))
		p.note(answers, connection, request)
		p.net.send(socket, p.answerBytes(connection, request))
	}
}

func (s *simulation) start(application func(*process, int), connection int) *process {
	p := &process{s, make(chan struct{})}
	go func() {
		<-p.run
		application(p, connection)
		p.back <- struct{}{}
	}()
	return p
}

// run simulates the scenario with blocking applications.
func run(given scenario, timed *harness.Region) *simulation {
	s := &simulation{scenario: given, net: newNetwork(given.connections), back: make(chan struct{})}
	var all []*process
	for i := 0; i < given.connections; i++ {
		all = append(all, s.start((*process).client, i), s.start((*process).server, i))
	}
	timed.Begin()
	for _, each := range all {
		each.resume()
	}
	s.net.run()
	timed.End()
	return s
}

func check(happened, expected history, given scenario) harness.Oracle {
	all := uint64(4 * given.connections * given.requests)
	if happened != expected || expected.events != all {
		return harness.Oracle{OK: false, Checked: fmt.Sprintf(
			"expected: %d events, as the event-driven form's %v; there were %v", all, expected, happened)}
	}
	return harness.Oracle{OK: true, Checked: fmt.Sprintf("%v, as in the event-driven form", happened)}
}

func program(arguments []string) (harness.Sample, error) {
	parsed, err := harness.Parse(arguments, []string{"goroutine"}, []harness.Parameter{
		{Name: "connections", Default: 100, Least: 1, Most: 1000000},
		{Name: "requests", Default: 20, Least: 1, Most: 1000000},
		{Name: "seed", Default: 1, Least: 0, Most: 1000000000},
		{Name: "warmup", Default: 1, Least: 0, Most: 1},
	})
	if err != nil {
		return harness.Sample{}, err
	}
	runtime.GOMAXPROCS(1) // one application runs at a time
	given := scenario{int(parsed.Integer("connections")), int(parsed.Integer("requests")), uint64(parsed.Integer("seed"))}
	if parsed.Integer("warmup") != 0 {
		run(scenario{5, 2, given.seed}, &harness.Region{})
	}
	sample := parsed.Sample("simulator")
	var blocking *simulation
	sample.Measure(func(timed *harness.Region) { blocking = run(given, timed) })

	start := time.Now()
	expected := runEventDriven(given)
	eventDriven := float64(time.Since(start).Nanoseconds())
	sample.Oracle = check(blocking.happened, expected, given)
	sample.Result = blocking.happened.String()
	wall := sample.Metrics["wall_ns"]
	sample.Metrics["blocked_call_ns"] = wall / float64(blocking.blocked)
	sample.Metrics["event_ns"] = wall / float64(blocking.happened.events)
	sample.Metrics["over_events_ns"] = (wall - eventDriven) / float64(blocking.blocked)
	sample.Metrics["simulated_ns"] = float64(blocking.happened.end)
	sample.Counters["blocked_calls"] = float64(blocking.blocked)
	return sample, nil
}

func main() { harness.Main(program) }

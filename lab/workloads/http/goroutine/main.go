// The HTTP server on goroutines. It is not a lab program itself: http-O2 starts it, and asks it as it does all other models
// (goroutine.cpp beside this directory). Its arguments are the server's limits, as limits.hpp has them; it listens at an
// inherited descriptor until SIGTERM, and counts in memory that it inherits.
package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	harness "heddle/lab/harness/go"
)

// limits is what the server lets a client have of it.
type limits struct {
	headerBytes, targetBytes, bodyBytes, lingerBytes int
	pipelined, connections                           int
	idle, header, body, write, linger                time.Duration
}

// server is what its connections share.
type server struct {
	allowed  limits
	backEnd  *backEnd // nil: none
	stopping atomic.Bool
	askers   atomic.Int64 // clients so far

	*counts
}

// model is a way to serve all who come to a door: serve returns when stop was called and all connections have ended.
type model interface {
	serve(door net.Listener) error
	stop()
}

const most = 1 << 30

func declared() []harness.Parameter {
	var all []harness.Parameter
	for _, name := range []string{
		"door", "counts", "back-end-port", "back-ends", "header-bytes", "target-bytes", "body-bytes", "linger-bytes", "pipelined",
		"connections", "idle-ms", "header-ms", "body-ms", "write-ms", "linger-ms",
	} {
		all = append(all, harness.Parameter{Name: name, Most: most})
	}
	return all
}

func limitsIn(parsed harness.Arguments) limits {
	count := func(name string) int { return int(parsed.Integer(name)) }
	ms := func(name string) time.Duration { return time.Duration(parsed.Integer(name)) * time.Millisecond }
	return limits{
		headerBytes: count("header-bytes"), targetBytes: count("target-bytes"), bodyBytes: count("body-bytes"),
		lingerBytes: count("linger-bytes"), pipelined: count("pipelined"), connections: count("connections"),
		idle: ms("idle-ms"), header: ms("header-ms"), body: ms("body-ms"), write: ms("write-ms"), linger: ms("linger-ms"),
	}
}

func newModel(name string, s *server) model {
	if name == "goroutine/net-http" {
		return newNetHTTP(s)
	}
	return newOwnLoop(s)
}

func run(arguments []string) error {
	parsed, err := harness.Parse(arguments, []string{"goroutine", "goroutine/net-http"}, declared())
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(parsed.Integer("door")), "door")
	door, err := net.FileListener(file)
	if err != nil {
		return fmt.Errorf("--door=%d is no listening socket: %v", parsed.Integer("door"), err)
	}
	file.Close() // the listener has a copy
	counted, err := mapCounts(int(parsed.Integer("counts")))
	if err != nil {
		return err
	}
	defer counted.countThreads()
	all := &server{allowed: limitsIn(parsed), counts: counted}
	if port := parsed.Integer("back-end-port"); port != 0 {
		all.backEnd = newBackEnd(fmt.Sprintf("127.0.0.1:%d", port), int(parsed.Integer("back-ends")))
		defer all.backEnd.close()
	}
	serving := newModel(parsed.Model, all)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		all.stopping.Store(true)
		serving.stop()
	}()
	return serving.serve(door)
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

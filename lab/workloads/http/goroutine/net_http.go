package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// askerKey is where a connection's context has its asker.
type askerKey struct{}

// netHTTP is Go's own server, with the same limits and the same resources; what it refuses, it refuses in its own way.
type netHTTP struct {
	*server
	http http.Server
	all  sync.WaitGroup
}

func newNetHTTP(s *server) *netHTTP {
	made := &netHTTP{server: s}
	made.http = http.Server{
		Handler:           made,
		MaxHeaderBytes:    s.allowed.headerBytes,
		ReadHeaderTimeout: s.allowed.header,
		ReadTimeout:       s.allowed.body,
		WriteTimeout:      s.allowed.write,
		IdleTimeout:       s.allowed.idle,
		ConnState:         made.count,
		ConnContext: func(to context.Context, _ net.Conn) context.Context {
			return context.WithValue(to, askerKey{}, s.newAsker())
		},
		ErrorLog: log.New(io.Discard, "", 0), // some clients misbehave on purpose
	}
	return made
}

func (n *netHTTP) serve(door net.Listener) error {
	if err := n.http.Serve(door); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	// Serve returns when the server begins to stop.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := n.http.Shutdown(ctx); err != nil {
		return err
	}
	n.all.Wait() // idle connections are closed then, but their goroutines may not have ended
	return nil
}

func (n *netHTTP) stop() {
	// The error is that of serve's own call.
	_ = n.http.Shutdown(context.Background())
}

func (n *netHTTP) count(_ net.Conn, now http.ConnState) {
	switch now {
	case http.StateNew:
		n.all.Add(1)
		n.opened()
	case http.StateClosed:
		n.open.Add(-1)
		n.all.Done()
	}
}

// ServeHTTP answers one request.
func (n *netHTTP) ServeHTTP(to http.ResponseWriter, from *http.Request) {
	n.requests.Add(1)
	var body []byte
	if from.ContentLength != 0 {
		var err error
		if body, err = io.ReadAll(http.MaxBytesReader(to, from.Body, int64(n.allowed.bodyBytes))); err != nil {
			n.refused.Add(1)
			http.Error(to, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
	}
	found := n.find(from.Context().Value(askerKey{}).(asker), from.Method, from.URL.Path, body)
	to.Header().Set("Content-Type", "text/plain")
	if found.status == http.StatusMethodNotAllowed {
		to.Header().Set("Allow", "GET, HEAD")
	}
	to.WriteHeader(found.status)
	flusher, canFlush := to.(http.Flusher)
	for left := found.content; len(left) > 0; {
		size := len(left)
		if found.chunked && size > chunkBytes {
			size = chunkBytes
		}
		if _, err := to.Write(left[:size]); err != nil {
			return // the client is gone
		}
		if left = left[size:]; found.chunked && canFlush {
			flusher.Flush()
		}
	}
}

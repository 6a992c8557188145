package main

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// connection is one client's side, served by its goroutine.
type connection struct {
	*server
	socket   net.Conn
	in       []byte // what has come: in[begin:end]
	begin    int
	end      int
	out      []byte
	answered int // since the last write
	now      request

	deadline time.Time   // of the request that is not whole; zero: there is none
	idleSet  time.Time   // when the socket was last told how long it may be idle; zero: told something else since
	writeSet time.Time   // when it was last told how long it may write
	idle     atomic.Bool // waits for a request of which nothing has come
}

const (
	firstInput = 2 << 10
	mostOutput = 64 << 10
)

// errEnded is a connection that ends without a further word.
var errEnded = errors.New("the connection has ended")

// refusal is a request that is answered by a status, which ends the connection.
type refusal int

func (r refusal) Error() string { return http.StatusText(int(r)) }

func newConnection(s *server, socket net.Conn) *connection {
	return &connection{server: s, socket: socket, in: make([]byte, firstInput)}
}

func (c *connection) serve() {
	for {
		err := c.readRequest()
		var status refusal
		switch {
		case errors.As(err, &status):
			c.requests.Add(1)
			c.refused.Add(1)
			c.out = appendResponse(c.out, plain(int(status), nil), response{closes: true})
			if c.flush() == nil {
				c.linger()
			}
			return
		case err != nil:
			return
		}
		c.requests.Add(1)
		c.answered++
		closes := !c.now.keepAlive || c.stopping.Load()
		how := response{closes: closes, http10: c.now.http10, onlyHeader: string(c.now.method) == "HEAD"}
		c.out = appendResponse(c.out, c.find(c.now.method, c.now.target, c.now.body), how)
		if closes {
			if c.flush() == nil {
				c.linger()
			}
			return
		}
		if c.answered >= c.allowed.pipelined || len(c.out) >= mostOutput {
			if c.flush() != nil {
				return
			}
		}
	}
}

// readRequest reads a request and its body.
func (c *connection) readRequest() error {
	c.deadline = time.Time{}
	searched := 0
	for {
		text := c.in[c.begin:c.end]
		if end := bytes.Index(text[searched:], []byte("\r\n\r\n")); end >= 0 {
			end += searched + len("\r\n\r\n")
			if status := c.tooLarge(text[:end]); status != 0 {
				return status
			}
			if status := parseHeader(text[:end], &c.now, &c.allowed); status != 0 {
				return refusal(status)
			}
			c.begin += end
			return c.readBody()
		}
		if status := c.tooLarge(text); status != 0 {
			return status
		}
		if searched = len(text) - len("\r\n\r"); searched < 0 {
			searched = 0
		}
		if err := c.fill(false); err != nil {
			return err
		}
	}
}

// tooLarge says what is too large of a header, or of its beginning.
func (c *connection) tooLarge(text []byte) refusal {
	switch {
	case len(text) <= c.allowed.headerBytes:
		return 0
	case !bytes.Contains(text, lineEnd):
		return http.StatusRequestURITooLong
	}
	// A target that is too long comes first.
	line, _ := cutLine(text)
	if len(line) > c.allowed.targetBytes+len("OPTIONS  HTTP/1.1") {
		return http.StatusRequestURITooLong
	}
	return http.StatusRequestHeaderFieldsTooLarge
}

func (c *connection) readBody() error {
	c.now.body = c.now.body[:0]
	if !c.now.chunked && c.now.length == 0 {
		return nil
	}
	c.deadline = time.Time{} // that of a body is another
	if c.now.wantsContinue && c.begin == c.end {
		c.out = append(c.out, "HTTP/1.1 100 Continue\r\n\r\n"...)
	}
	if !c.now.chunked {
		return c.take(c.now.length)
	}
	for {
		line, err := c.readLine()
		if err != nil {
			return err
		}
		size, status := parseChunkSize(line, c.allowed.bodyBytes-len(c.now.body))
		if status != 0 {
			return refusal(status)
		}
		if size == 0 {
			break
		}
		if err := c.take(size); err != nil {
			return err
		}
		if line, err := c.readLine(); err != nil {
			return err
		} else if len(line) != 0 {
			return refusal(http.StatusBadRequest)
		}
	}
	for { // trailers, which are skipped
		if line, err := c.readLine(); err != nil || len(line) == 0 {
			return err
		}
	}
}

// take appends so many bytes to the body.
func (c *connection) take(count int) error {
	for {
		size := c.end - c.begin
		if size > count {
			size = count
		}
		c.now.body = append(c.now.body, c.in[c.begin:c.begin+size]...)
		c.begin += size
		if count -= size; count == 0 {
			return nil
		}
		if err := c.fill(true); err != nil {
			return err
		}
	}
}

// readLine is valid until the next read.
func (c *connection) readLine() ([]byte, error) {
	for {
		text := c.in[c.begin:c.end]
		if end := bytes.Index(text, lineEnd); end >= 0 {
			c.begin += end + len(lineEnd)
			return text[:end], nil
		}
		if len(text) > c.allowed.headerBytes {
			return nil, refusal(http.StatusBadRequest)
		}
		if err := c.fill(true); err != nil {
			return nil, err
		}
	}
}

// fill writes what there is to be written, and reads more.
func (c *connection) fill(inBody bool) error {
	if err := c.flush(); err != nil {
		return err
	}
	c.makeRoom()
	between := !inBody && c.begin == c.end
	c.limitWaiting(between, inBody)
	// Who stops the server sets `stopping` and then looks at `idle`: one of both sees the other.
	c.idle.Store(between)
	if between && c.stopping.Load() {
		return errEnded
	}
	count, err := c.socket.Read(c.in[c.end:])
	c.idle.Store(false)
	if count > 0 {
		c.end += count
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && !between {
		return refusal(http.StatusRequestTimeout)
	}
	return errEnded
}

// makeRoom makes room for a byte at least.
func (c *connection) makeRoom() {
	if c.begin == c.end {
		c.begin, c.end = 0, 0
	}
	if c.end < len(c.in) {
		return
	}
	to := c.in
	if c.begin == 0 {
		to = make([]byte, 2*len(c.in))
	}
	c.end = copy(to, c.in[c.begin:c.end])
	c.in, c.begin = to, 0
}

// limitWaiting tells the socket how long it may wait. Between requests that is done anew once a second only, so that a client
// may be idle for a second less; a request's own limit runs from the first time that more of it had to be waited for.
func (c *connection) limitWaiting(between, inBody bool) {
	if !between && !c.deadline.IsZero() {
		return
	}
	now := time.Now()
	switch {
	case between && now.Sub(c.idleSet) > time.Second:
		c.idleSet = now
		c.socket.SetReadDeadline(now.Add(c.allowed.idle))
	case !between:
		limit := c.allowed.header
		if inBody {
			limit = c.allowed.body
		}
		c.idleSet = time.Time{}
		c.deadline = now.Add(limit)
		c.socket.SetReadDeadline(c.deadline)
	}
}

func (c *connection) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	if now := time.Now(); now.Sub(c.writeSet) > c.allowed.write/2 { // half of it at least is left each time
		c.writeSet = now
		c.socket.SetWriteDeadline(now.Add(c.allowed.write))
	}
	_, err := c.socket.Write(c.out)
	c.answered = 0
	if c.out = c.out[:0]; cap(c.out) > 2*mostOutput {
		c.out = nil
	}
	return err
}

// linger ends our direction, and forgets what the client still sends: closed at once, it might lose the answer.
func (c *connection) linger() {
	if socket, ok := c.socket.(*net.TCPConn); ok {
		socket.CloseWrite()
	}
	c.socket.SetReadDeadline(time.Now().Add(c.allowed.linger))
	for forgotten := 0; forgotten < c.allowed.lingerBytes; {
		count, err := c.socket.Read(c.in)
		if err != nil {
			return
		}
		forgotten += count
	}
}

// stopWaiting is for the one who stops the server.
func (c *connection) stopWaiting() {
	if c.idle.Load() {
		c.socket.SetReadDeadline(time.Unix(1, 0))
	}
}

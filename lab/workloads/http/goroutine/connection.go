package main

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// connection is one client's side, served by its goroutine.
type connection struct {
	*server
	socket   net.Conn
	in       *bufio.Reader // over Read
	text     *textproto.Reader
	out      []byte
	answered int // since the last write
	now      request
	asker    asker

	left    int     // bytes that may still come of what is read now: a header, a line, some of a body
	tooMuch refusal // what is said to more
	inBody  bool    // what is read now is part of a body
	between bool    // nothing has come of the next request
	failed  error   // why no more can be read

	deadline time.Time   // of the request that is not whole; zero: there is none
	idleSet  time.Time   // when the socket was last told how long it may be idle; zero: told something else since
	writeSet time.Time   // when it was last told how long it may write
	idle     atomic.Bool // waits for a request of which nothing has come
}

const (
	input      = 2 << 10
	mostOutput = 64 << 10
)

// errEnded is a connection that ends without a further word.
var errEnded = errors.New("the connection has ended")

// refusal is a request that is answered by a status, which ends the connection.
type refusal int

func (r refusal) Error() string { return http.StatusText(int(r)) }

func newConnection(s *server, socket net.Conn) *connection {
	made := &connection{server: s, socket: socket, asker: s.newAsker()}
	made.in = bufio.NewReaderSize(made, input)
	made.text = textproto.NewReader(made.in)
	return made
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
		how := response{closes: closes, http10: c.now.http10, onlyHeader: c.now.method == "HEAD"}
		c.out = appendResponse(c.out, c.find(c.asker, c.now.method, c.now.target, c.now.body.Bytes()), how)
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
	err := c.readHeader()
	if err == nil {
		err = c.readBody()
	}
	if c.failed != nil { // it comes first: what is cut short looks wrong, too
		return c.failed
	}
	var syntax textproto.ProtocolError
	if errors.As(err, &syntax) {
		return refusal(http.StatusBadRequest)
	}
	return err
}

func (c *connection) readHeader() error {
	c.deadline, c.inBody = time.Time{}, false
	c.between = c.in.Buffered() == 0
	c.left, c.tooMuch = c.allowed.headerBytes-c.in.Buffered(), http.StatusRequestURITooLong
	line, err := c.text.ReadLine()
	if c.failed != nil || err != nil {
		return err
	}
	c.tooMuch = http.StatusRequestHeaderFieldsTooLarge
	if err := c.now.setLine(line, &c.allowed); err != nil {
		return err
	}
	fields, err := c.text.ReadMIMEHeader()
	if err != nil {
		return err
	}
	return c.now.setFields(fields, &c.allowed)
}

func (c *connection) readBody() error {
	c.now.body.Reset()
	if !c.now.chunked && c.now.length == 0 {
		return nil
	}
	c.deadline, c.inBody = time.Time{}, true // a body has its own deadline
	c.tooMuch = http.StatusBadRequest
	if c.now.wantsContinue && c.in.Buffered() == 0 {
		c.out = append(c.out, "HTTP/1.1 100 Continue\r\n\r\n"...)
	}
	if !c.now.chunked {
		return c.take(c.now.length)
	}
	// Not by httputil's reader: it says nothing of a chunk that is too large until that has come.
	for {
		c.left = c.allowed.headerBytes
		line, err := c.text.ReadLine()
		if err != nil {
			return err
		}
		digits, _, _ := strings.Cut(line, ";")
		most := c.allowed.bodyBytes - c.now.body.Len()
		size, err := parseSize(strings.TrimRight(digits, " \t"), 16, most)
		if err != nil {
			return err
		}
		if size == 0 {
			_, err := c.text.ReadMIMEHeader() // trailers, which are skipped
			return err
		}
		if err := c.take(size); err != nil {
			return err
		}
		c.left = c.allowed.headerBytes
		if end, err := c.text.ReadLine(); err != nil || end != "" {
			return refusal(http.StatusBadRequest)
		}
	}
}

// take appends so many bytes to the body.
func (c *connection) take(count int) error {
	c.left = count
	_, err := io.CopyN(&c.now.body, c.in, int64(count))
	return err
}

// Read is called for c.in when nothing is left there: it writes what there is to be written, and
// reads more.
func (c *connection) Read(into []byte) (int, error) {
	if c.failed != nil {
		return 0, c.failed
	}
	count, err := c.readMore(into)
	c.failed = err
	return count, err
}

func (c *connection) readMore(into []byte) (int, error) {
	if err := c.flush(); err != nil {
		return 0, err
	}
	if c.left <= 0 {
		return 0, c.tooMuch
	}
	if len(into) > c.left {
		into = into[:c.left]
	}
	between := c.between
	c.between = false
	c.limitWaiting(between)
	// Who stops the server sets `stopping` and then looks at `idle`: one of both sees the other.
	c.idle.Store(between)
	if between && c.stopping.Load() {
		return 0, errEnded
	}
	count, err := c.socket.Read(into)
	c.idle.Store(false)
	if count > 0 {
		c.left -= count
		return count, nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && !between {
		return 0, refusal(http.StatusRequestTimeout)
	}
	return 0, errEnded
}

// limitWaiting tells the socket how long it may wait. Between requests that is done anew once a second only, so that a client
// may be idle for a second less; a request's own limit runs from the first time that more of it had to be waited for.
func (c *connection) limitWaiting(between bool) {
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
		if c.inBody {
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
	io.CopyN(io.Discard, c.socket, int64(c.allowed.lingerBytes))
}

// stopWaiting is for the one who stops the server.
func (c *connection) stopWaiting() {
	if c.idle.Load() {
		c.socket.SetReadDeadline(time.Unix(1, 0))
	}
}

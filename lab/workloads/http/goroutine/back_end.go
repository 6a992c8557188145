package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
)

// backEnd asks a Redis for values over kept connections, over each of which many ask at a time, as the other models do: a
// goroutine writes what has come together, and another one reads the answers, which come in the order of the questions.
type backEnd struct {
	address string
	kept    []*multiplexed
}

// question is one goroutine's, which asks for one thing at a time.
type question struct {
	answered chan struct{}
	value    []byte
	found    bool
	err      error
}

func newQuestion() *question { return &question{answered: make(chan struct{}, 1)} }

// multiplexed is a kept connection; nil until it is asked first, and after an error.
type multiplexed struct {
	mutex   sync.Mutex
	now     *link
	readers sync.WaitGroup // and writers, of all links that there were
}

// link is a connection with what is under way on it. All but the socket is under the mutex of its owner.
type link struct {
	socket  net.Conn
	out     []byte // to be written
	waiting questions
	written chan struct{} // out is not empty any more, or the link has ended
	ended   bool
}

// questions is a queue, oldest first.
type questions struct {
	all  []*question
	head int
}

func (q *questions) empty() bool { return q.head == len(q.all) }

func (q *questions) push(last *question) { q.all = append(q.all, last) }

func (q *questions) pop() *question {
	first := q.all[q.head]
	q.head++
	if 2*q.head >= len(q.all) { // so it is as large as what it ever holds at a time, about
		q.all = q.all[:copy(q.all, q.all[q.head:])]
		q.head = 0
	}
	return first
}

const mostValue = 1 << 20

var errEndedBackEnd = errors.New("the back end has ended its connection")

func newBackEnd(address string, connections int) *backEnd {
	made := &backEnd{address: address}
	for i := 0; i < connections; i++ {
		made.kept = append(made.kept, &multiplexed{})
	}
	return made
}

// close ends all connections; no request may be under way.
func (b *backEnd) close() {
	for _, each := range b.kept {
		each.mutex.Lock()
		if each.now != nil {
			each.end(each.now, errEndedBackEnd)
		}
		each.mutex.Unlock()
		each.readers.Wait()
	}
}

// get is the value of a key, if there is one. A client's questions all go over the same connection; `by` is used again and
// again.
func (b *backEnd) get(client int, by *question, key string) (value []byte, found bool, err error) {
	over := b.kept[client%len(b.kept)]
	if err := over.ask(b.address, by, key); err != nil {
		return nil, false, err
	}
	<-by.answered
	return by.value, by.found, by.err
}

func (m *multiplexed) ask(address string, by *question, key string) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.now == nil {
		socket, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		m.now = &link{socket: socket, written: make(chan struct{}, 1)}
		m.readers.Add(2)
		go m.write(m.now)
		go m.read(m.now)
	}
	to := m.now
	first := len(to.out) == 0
	to.out = append(to.out, "*2\r\n$3\r\nGET\r\n$"...)
	to.out = strconv.AppendInt(to.out, int64(len(key)), 10)
	to.out = append(append(append(to.out, "\r\n"...), key...), "\r\n"...)
	to.waiting.push(by)
	if first {
		wake(to.written)
	}
	return nil
}

func wake(sleeper chan struct{}) {
	select {
	case sleeper <- struct{}{}:
	default: // it has been woken already
	}
}

func (m *multiplexed) write(to *link) {
	defer m.readers.Done()
	var writing []byte
	for range to.written {
		m.mutex.Lock()
		writing, to.out = to.out, writing[:0]
		ended := to.ended
		m.mutex.Unlock()
		if ended {
			return
		}
		if _, err := to.socket.Write(writing); err != nil {
			to.socket.Close() // which read sees
		}
	}
}

func (m *multiplexed) read(from *link) {
	defer m.readers.Done()
	in := bufio.NewReader(from.socket)
	for {
		value, found, err := readReply(in)
		m.mutex.Lock()
		if err != nil || from.waiting.empty() {
			m.end(from, err)
			m.mutex.Unlock()
			return
		}
		by := from.waiting.pop()
		m.mutex.Unlock()
		by.value, by.found, by.err = value, found, nil
		by.answered <- struct{}{}
	}
}

// end is called under the mutex, and does nothing the second time. The next question makes a new link: what may still come on
// this one would be taken for another's answer.
func (m *multiplexed) end(which *link, err error) {
	if which.ended {
		return
	}
	which.ended = true
	if m.now == which {
		m.now = nil
	}
	which.socket.Close()
	wake(which.written)
	if err == nil {
		err = errEndedBackEnd
	}
	for !which.waiting.empty() {
		by := which.waiting.pop()
		by.value, by.found, by.err = nil, false, err
		by.answered <- struct{}{}
	}
}

func readReply(in *bufio.Reader) (value []byte, found bool, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, false, err
	}
	if len(line) < 4 || line[0] != '$' {
		return nil, false, fmt.Errorf("the back end says %q", line)
	}
	size, err := strconv.Atoi(string(line[1 : len(line)-2]))
	if err != nil || size > mostValue {
		return nil, false, fmt.Errorf("the back end says %q", line)
	}
	if size < 0 {
		return nil, false, nil
	}
	value = make([]byte, size+2)
	if _, err := io.ReadFull(in, value); err != nil {
		return nil, false, err
	}
	return value[:size], true, nil
}

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
)

// backEnd asks a Redis for values over kept connections, one question at a time on each.
type backEnd struct {
	address string
	kept    chan *question
}

// question is a kept connection; nil until it is asked first, and after an error.
type question struct {
	connection net.Conn
	in         *bufio.Reader
	out        []byte
}

const mostValue = 1 << 20

func newBackEnd(address string, connections int) *backEnd {
	made := &backEnd{address: address, kept: make(chan *question, connections)}
	for i := 0; i < connections; i++ {
		made.kept <- &question{}
	}
	return made
}

// close ends all connections; no request may be under way.
func (b *backEnd) close() {
	for i := 0; i < cap(b.kept); i++ {
		if each := <-b.kept; each.connection != nil {
			each.connection.Close()
		}
	}
}

// get is the value of a key, if there is one.
func (b *backEnd) get(key string) (value []byte, found bool, err error) {
	one := <-b.kept
	if one.connection == nil {
		if one.connection, err = net.Dial("tcp", b.address); err == nil {
			one.in = bufio.NewReader(one.connection)
		}
	}
	if err == nil {
		value, found, err = one.get(key)
	}
	if err != nil && one.connection != nil { // what may still come would be taken for another's answer
		one.connection.Close()
		one.connection = nil
	}
	b.kept <- one
	return value, found, err
}

func (q *question) get(key string) ([]byte, bool, error) {
	q.out = append(q.out[:0], "*2\r\n$3\r\nGET\r\n$"...)
	q.out = strconv.AppendInt(q.out, int64(len(key)), 10)
	q.out = append(append(append(q.out, "\r\n"...), key...), "\r\n"...)
	if _, err := q.connection.Write(q.out); err != nil {
		return nil, false, err
	}
	line, err := q.in.ReadSlice('\n')
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
	value := make([]byte, size+2)
	if _, err := io.ReadFull(q.in, value); err != nil {
		return nil, false, err
	}
	return value[:size], true, nil
}

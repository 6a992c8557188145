// Package file is the file workload on goroutines. workload.hpp beside this directory says what is
// measured, and why the result is known.
package file

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

const (
	recordBytes = 80
	searchBytes = 100 * recordBytes // what a search reads at a time
)

type record struct {
	id      int
	version uint64
}

func (r record) check() uint64 {
	x := r.version*0x9E3779B97F4A7C15 + uint64(r.id)
	x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCD
	return x ^ (x >> 33)
}

// line is the record as it is in the file, as records.hpp's.
func (r record) line() []byte {
	line := []byte(fmt.Sprintf("record %06d version %010d check %016x ", r.id, r.version, r.check()))
	line = append(line, bytes.Repeat([]byte{'.'}, recordBytes-1-len(line))...)
	return append(line, '\n')
}

// parse is false if the line is not a whole record as line makes it.
func parse(line []byte) (record, bool) {
	if len(line) != recordBytes {
		return record{}, false
	}
	id, idError := strconv.ParseUint(string(line[7:13]), 10, 32)
	version, versionError := strconv.ParseUint(string(line[22:32]), 10, 64)
	read := record{int(id), version}
	return read, idError == nil && versionError == nil && bytes.Equal(line, read.line())
}

func beginning(id int) []byte { return []byte(fmt.Sprintf("record %06d ", id)) }

func offset(id int) int64 { return int64(id) * recordBytes }

// Records is a file of records, guarded as its implementation says: each method may be called by all
// goroutines.
type Records interface {
	// Read returns false if what is there is no record with that id.
	Read(id int) (record, bool)
	Write(wanted record) bool
	// Search reads the file from its start, line by line, until a line begins with the id; its number, or -1.
	Search(id int) int
}

// temporary makes a file of count records, whose name is removed at once.
func temporary(count int) (*os.File, error) {
	made, err := os.CreateTemp("", "heddle-file-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(made.Name()); err != nil {
		return nil, err
	}
	for id := 0; id < count; id++ {
		if _, err := made.Write(record{id: id}.line()); err != nil {
			return nil, err
		}
	}
	return made, nil
}

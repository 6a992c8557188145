package file

import (
	"bytes"
	"os"
	"sync"
)

const groups = 64

// Positioned is one file read and written in place (pread, pwrite), with a mutex for each of so many
// groups of records. A search compares ids, which no write changes: it needs none.
type Positioned struct {
	data  *os.File
	locks [groups]struct {
		sync.Mutex
		_ [64 - 8]byte // neighbours in other cache lines
	}
}

// NewPositioned is records read and written in place.
func NewPositioned(data *os.File) Records { return &Positioned{data: data} }

// Read is Records'.
func (p *Positioned) Read(id int) (record, bool) {
	lock := &p.locks[id%groups]
	lock.Lock()
	defer lock.Unlock()
	line := make([]byte, recordBytes)
	if _, err := p.data.ReadAt(line, offset(id)); err != nil {
		return record{}, false
	}
	read, ok := parse(line)
	return read, ok && read.id == id
}

// Write is Records'.
func (p *Positioned) Write(wanted record) bool {
	lock := &p.locks[wanted.id%groups]
	lock.Lock()
	defer lock.Unlock()
	_, err := p.data.WriteAt(wanted.line(), offset(wanted.id))
	return err == nil
}

// Search is Records'.
func (p *Positioned) Search(id int) int {
	wanted := beginning(id)
	var block [searchBytes]byte
	for number, at := 0, int64(0); ; {
		got, err := p.data.ReadAt(block[:], at) // io.EOF comes with the last bytes
		for text := block[:got]; len(text) > 0; number++ {
			if bytes.HasPrefix(text, wanted) {
				return number
			}
			text = text[bytes.IndexByte(text, '\n')+1:]
		}
		if err != nil {
			return -1
		}
		at += int64(got)
	}
}

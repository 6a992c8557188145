package file

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"sync"
)

// Stream is one file with one position, and a mutex round each operation, as the source has it. Go has
// no fstream: what is sought and read is not buffered, but for a search.
type Stream struct {
	mutex sync.Mutex
	data  *os.File
}

// NewStream is records on one stream.
func NewStream(data *os.File) Records { return &Stream{data: data} }

// Read is Records'.
func (s *Stream) Read(id int) (record, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	line := make([]byte, recordBytes)
	if _, err := s.data.Seek(offset(id), io.SeekStart); err != nil {
		return record{}, false
	}
	if _, err := io.ReadFull(s.data, line); err != nil {
		return record{}, false
	}
	read, ok := parse(line)
	return read, ok && read.id == id
}

// Write is Records'.
func (s *Stream) Write(wanted record) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, err := s.data.Seek(offset(wanted.id), io.SeekStart); err != nil {
		return false
	}
	_, err := s.data.Write(wanted.line())
	return err == nil
}

// Search is Records'.
func (s *Stream) Search(id int) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if _, err := s.data.Seek(0, io.SeekStart); err != nil {
		return -1
	}
	wanted := beginning(id)
	lines := bufio.NewScanner(s.data)
	for number := 0; lines.Scan(); number++ {
		if bytes.HasPrefix(lines.Bytes(), wanted) {
			return number
		}
	}
	return -1
}

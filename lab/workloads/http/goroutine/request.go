package main

import (
	"bytes"
	"net/http"
	"strings"
)

// request is a request's header, as it was read. Target and body are the connection's, until its next request.
type request struct {
	method, target []byte
	http10         bool
	keepAlive      bool
	wantsContinue  bool
	chunked        bool
	length         int // of the body, without chunks
	body           []byte
}

// parseHeader reads a request line and fields, up to and with their empty line. Status is 0, or says what is wrong.
func parseHeader(text []byte, into *request, allowed *limits) (status int) {
	line, rest := cutLine(text)
	if status := into.parseLine(line, allowed); status != 0 {
		return status
	}
	into.keepAlive = !into.http10
	into.wantsContinue, into.chunked, into.length = false, false, 0
	hasHost, hasLength := false, false
	for {
		line, rest = cutLine(rest)
		if len(line) == 0 {
			break
		}
		colon := bytes.IndexByte(line, ':')
		if colon <= 0 || !isToken(line[:colon]) {
			return http.StatusBadRequest
		}
		name, value := line[:colon], bytes.Trim(line[colon+1:], " \t")
		if !isText(value) {
			return http.StatusBadRequest
		}
		switch len(name) { // few fields have a name as long as one of these
		case len("Host"):
			if isField(name, "Host") {
				if hasHost { // RFC 9112, 3.2
					return http.StatusBadRequest
				}
				hasHost = true
			}
		case len("Expect"):
			if isField(name, "Expect") {
				into.wantsContinue = isField(value, "100-continue")
			}
		case len("Connection"):
			if isField(name, "Connection") {
				if hasToken(value, "close") {
					into.keepAlive = false
				} else if hasToken(value, "keep-alive") {
					into.keepAlive = true
				}
			}
		case len("Content-Length"):
			if isField(name, "Content-Length") {
				length, status := parseLength(value, allowed.bodyBytes)
				if hasLength || status != 0 {
					if status == 0 {
						status = http.StatusBadRequest
					}
					return status
				}
				hasLength, into.length = true, length
			}
		case len("Transfer-Encoding"):
			if isField(name, "Transfer-Encoding") {
				if !isField(value, "chunked") {
					return http.StatusNotImplemented
				}
				into.chunked = true
			}
		}
	}
	if !hasHost && !into.http10 || into.chunked && hasLength {
		return http.StatusBadRequest
	}
	return 0
}

// parseLine reads "GET /target HTTP/1.1".
func (r *request) parseLine(line []byte, allowed *limits) (status int) {
	first, last := bytes.IndexByte(line, ' '), bytes.LastIndexByte(line, ' ')
	if first <= 0 || last <= first+1 || !isToken(line[:first]) {
		return http.StatusBadRequest
	}
	version := line[last+1:]
	if len(version) != len("HTTP/1.1") || string(version[:5]) != "HTTP/" || version[6] != '.' ||
		!isDigit(version[5]) || !isDigit(version[7]) {
		return http.StatusBadRequest
	}
	if version[5] != '1' || version[7] > '1' {
		return http.StatusHTTPVersionNotSupported
	}
	r.http10 = version[7] == '0'
	target := line[first+1 : last]
	for _, c := range target {
		if c <= ' ' || c == 0x7f {
			return http.StatusBadRequest
		}
	}
	if len(target) > allowed.targetBytes {
		return http.StatusRequestURITooLong
	}
	switch string(line[:first]) {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH":
	default:
		return http.StatusNotImplemented
	}
	r.method = append(r.method[:0], line[:first]...)
	r.target = append(r.target[:0], target...)
	return 0
}

// parseLength reads decimal digits alone.
func parseLength(text []byte, most int) (length, status int) {
	if len(text) == 0 || len(text) > 18 {
		return 0, http.StatusBadRequest
	}
	for _, c := range text {
		if !isDigit(c) {
			return 0, http.StatusBadRequest
		}
		length = 10*length + int(c-'0')
	}
	if length > most {
		return 0, http.StatusRequestEntityTooLarge
	}
	return length, 0
}

// parseChunkSize reads "1f;extension"; 413 if it is more than most.
func parseChunkSize(line []byte, most int) (size, status int) {
	if end := bytes.IndexByte(line, ';'); end >= 0 {
		line = line[:end]
	}
	line = bytes.TrimRight(line, " \t")
	if len(line) == 0 || len(line) > 15 {
		return 0, http.StatusBadRequest
	}
	for _, c := range line {
		switch lower := c | 0x20; {
		case isDigit(c):
			size = 16*size + int(c-'0')
		case lower >= 'a' && lower <= 'f':
			size = 16*size + int(lower-'a') + 10
		default:
			return 0, http.StatusBadRequest
		}
	}
	if size > most {
		return 0, http.StatusRequestEntityTooLarge
	}
	return size, 0
}

// cutLine is the first line, without its end, and the rest.
func cutLine(text []byte) (line, rest []byte) {
	end := bytes.Index(text, lineEnd)
	if end < 0 {
		return text, nil
	}
	return text[:end], text[end+len(lineEnd):]
}

var lineEnd = []byte("\r\n")

func isField(text []byte, name string) bool { return strings.EqualFold(string(text), name) }
func isDigit(c byte) bool                   { return c >= '0' && c <= '9' }

func isToken(text []byte) bool {
	for _, c := range text {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return len(text) > 0
}

func isText(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

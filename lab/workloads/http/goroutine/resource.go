package main

import (
	"net/http"
	"strconv"
	"strings"
)

const mostContent = 1 << 20

// content is text, the same in every process: as session::content.
var content = func() []byte {
	var text []byte
	for i := int64(0); len(text) < mostContent; i++ {
		text = append(strconv.AppendInt(text, i, 10), '\n')
	}
	return text[:mostContent]
}()

var greeting = []byte("Hello.\n")

// resource is what a request gets: a status and content, which may go in chunks.
type resource struct {
	status  int
	content []byte
	chunked bool
}

// plain is a status with its own words, or 200 with the content.
func plain(status int, text []byte) resource {
	if status != http.StatusOK {
		text = []byte(reasonOf(status))
	}
	return resource{status: status, content: text}
}

// asker is the one for whose client the back end is asked.
type asker struct {
	client   int // its number: 0, 1 …
	question *question
}

func (s *server) newAsker() asker {
	return asker{client: int(s.askers.Add(1) - 1), question: newQuestion()}
}

// find is the response logic of session.cpp.
func (s *server) find(by asker, method, target string, body []byte) resource {
	is := func(name string) bool { return method == name }
	if target == "/echo" {
		if is("POST") || is("PUT") {
			return plain(http.StatusOK, body)
		}
		return plain(http.StatusMethodNotAllowed, nil)
	}
	key, isKey := cut(target, "/value/")
	isKey = isKey && len(key) > 0
	size, isSize := cut(target, "/bytes/")
	chunks, isChunked := cut(target, "/chunked/")
	if isChunked {
		size = chunks
	}
	wanted, fits := 0, false
	if isSize || isChunked {
		wanted, fits = number(size)
	}
	switch {
	case target != "/" && !fits && !isKey:
		return plain(http.StatusNotFound, nil)
	case !is("GET") && !is("HEAD"):
		return plain(http.StatusMethodNotAllowed, nil)
	case isKey:
		return s.ask(by, key)
	case fits:
		return resource{status: http.StatusOK, content: content[:wanted], chunked: isChunked}
	}
	return plain(http.StatusOK, greeting)
}

func (s *server) ask(by asker, key string) resource {
	if s.backEnd == nil {
		return plain(http.StatusBadGateway, nil)
	}
	value, found, err := s.backEnd.get(by.client, by.question, key)
	switch {
	case err != nil:
		return plain(http.StatusBadGateway, nil)
	case !found:
		return plain(http.StatusNotFound, nil)
	}
	return plain(http.StatusOK, value)
}

func cut(target, root string) (string, bool) {
	return strings.TrimPrefix(target, root), strings.HasPrefix(target, root)
}

// number is that of decimal digits alone, up to mostContent.
func number(text string) (int, bool) {
	if len(text) == 0 || len(text) > 7 {
		return 0, false
	}
	sum := 0
	for _, digit := range []byte(text) {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		sum = 10*sum + int(digit-'0')
	}
	return sum, sum <= mostContent
}

func reasonOf(status int) string {
	switch status { // where RFC 9110 has a newer name
	case http.StatusRequestEntityTooLarge:
		return "Content Too Large"
	case http.StatusRequestURITooLong:
		return "URI Too Long"
	}
	return http.StatusText(status)
}

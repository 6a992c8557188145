package main

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// response is what differs between answers, beside their content.
type response struct {
	closes     bool // the connection ends with it
	http10     bool // the client needs to be told that it does not
	onlyHeader bool
}

const chunkBytes = 1000

// dateLine is made anew once a second.
type dateLine struct {
	second int64
	line   []byte
}

var lastDate atomic.Pointer[dateLine]

func appendDate(to []byte) []byte {
	now := time.Now()
	date := lastDate.Load()
	if date == nil || date.second != now.Unix() {
		date = &dateLine{now.Unix(), now.UTC().AppendFormat(nil, "Date: "+http.TimeFormat+"\r\n")}
		lastDate.Store(date)
	}
	return append(to, date.line...)
}

// appendResponse is write_response and write_chunked of response.cpp.
func appendResponse(to []byte, found resource, how response) []byte {
	if found.status == http.StatusOK {
		to = append(to, "HTTP/1.1 200 OK\r\n"...)
	} else {
		to = strconv.AppendInt(append(to, "HTTP/1.1 "...), int64(found.status), 10)
		to = append(append(append(to, ' '), reasonOf(found.status)...), "\r\n"...)
	}
	to = append(appendDate(to), "Content-Type: text/plain\r\n"...)
	if found.status == http.StatusMethodNotAllowed {
		to = append(to, "Allow: GET, HEAD\r\n"...)
	}
	if how.closes {
		to = append(to, "Connection: close\r\n"...)
	} else if how.http10 {
		to = append(to, "Connection: keep-alive\r\n"...)
	}
	if !found.chunked || how.http10 {
		to = strconv.AppendInt(append(to, "Content-Length: "...), int64(len(found.content)), 10)
		to = append(to, "\r\n\r\n"...)
		if how.onlyHeader {
			return to
		}
		return append(to, found.content...)
	}
	to = append(to, "Transfer-Encoding: chunked\r\n\r\n"...)
	if how.onlyHeader {
		return to
	}
	for left := found.content; len(left) > 0; {
		size := len(left)
		if size > chunkBytes {
			size = chunkBytes
		}
		to = append(strconv.AppendInt(to, int64(size), 16), "\r\n"...)
		to = append(append(to, left[:size]...), "\r\n"...)
		left = left[size:]
	}
	return append(to, "0\r\n\r\n"...)
}

package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// request is what the server has to know of a request. It is the connection's, until the next one.
type request struct {
	method, target string
	http10         bool
	keepAlive      bool
	wantsContinue  bool
	chunked        bool
	length         int // of the body, without chunks
	body           bytes.Buffer
}

// setLine takes "GET /target HTTP/1.1" apart.
func (r *request) setLine(line string, allowed *limits) error {
	method, rest, _ := strings.Cut(line, " ")
	target, version, _ := strings.Cut(rest, " ")
	major, minor, ok := http.ParseHTTPVersion(version)
	switch {
	case !ok || method == "" || target == "":
		return refusal(http.StatusBadRequest)
	case major != 1 || minor > 1:
		return refusal(http.StatusHTTPVersionNotSupported)
	case len(target) > allowed.targetBytes:
		return refusal(http.StatusRequestURITooLong)
	}
	switch method {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH":
	default:
		return refusal(http.StatusNotImplemented)
	}
	r.method, r.target, r.http10 = method, target, minor == 0
	return nil
}

// setFields looks at the fields that concern the server. http.ReadRequest would have taken one of
// two hosts, and chunks where there is a length, too; here both are refused.
func (r *request) setFields(fields textproto.MIMEHeader, allowed *limits) error {
	for _, values := range fields {
		for _, value := range values {
			if strings.IndexFunc(value, isControl) >= 0 { // textproto lets it pass before Go 1.20
				return refusal(http.StatusBadRequest)
			}
		}
	}
	hosts := len(fields["Host"])
	lengths, codings := fields["Content-Length"], fields["Transfer-Encoding"]
	r.keepAlive = !r.http10
	for _, value := range fields["Connection"] {
		if hasToken(value, "close") {
			r.keepAlive = false
		} else if hasToken(value, "keep-alive") {
			r.keepAlive = true
		}
	}
	r.wantsContinue = strings.EqualFold(fields.Get("Expect"), "100-continue")
	r.chunked, r.length = len(codings) > 0, 0
	switch {
	case hosts > 1 || hosts == 0 && !r.http10, len(lengths)+len(codings) > 1: // RFC 9112, 3.2 and 6.3
		return refusal(http.StatusBadRequest)
	case r.chunked && !strings.EqualFold(codings[0], "chunked"):
		return refusal(http.StatusNotImplemented)
	case len(lengths) > 0:
		length, err := parseSize(lengths[0], 10, allowed.bodyBytes)
		r.length = length
		return err
	}
	return nil
}

// parseSize is that of a body, or of a chunk.
func parseSize(digits string, base, most int) (int, error) {
	size, err := strconv.ParseUint(digits, base, 63)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return 0, refusal(http.StatusBadRequest)
	case err != nil || size > uint64(most):
		return 0, refusal(http.StatusRequestEntityTooLarge)
	}
	return int(size), nil
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// hasToken says whether a list such as that of Connection has the token, whatever its case.
func hasToken(list, token string) bool {
	for _, each := range strings.Split(list, ",") {
		if strings.EqualFold(strings.TrimSpace(each), token) {
			return true
		}
	}
	return false
}

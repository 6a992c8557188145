package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

var models = []string{"goroutine", "goroutine/net-http"}

func testLimits() limits {
	return limits{
		headerBytes: 8 << 10, targetBytes: 4 << 10, bodyBytes: 1 << 20, lingerBytes: 256 << 10, pipelined: 64, connections: 100,
		idle: time.Minute, header: time.Minute, body: time.Minute, write: time.Minute, linger: 100 * time.Millisecond,
	}
}

// begin serves on a free port until the test ends, and then sees to it that nothing is left.
func begin(t *testing.T, name string, s *server) string {
	t.Helper()
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serving := newModel(name, s)
	ended := make(chan error)
	go func() { ended <- serving.serve(door) }()
	t.Cleanup(func() {
		s.stopping.Store(true)
		serving.stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if open := s.open.Load(); open != 0 {
			t.Errorf("%d connections are left", open)
		}
	})
	return door.Addr().String()
}

// say sends text, `piece` bytes at a time, and ends its direction.
func say(t *testing.T, address, text string, piece int) *bufio.Reader {
	t.Helper()
	socket, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	for len(text) > 0 {
		if piece > len(text) {
			piece = len(text)
		}
		if _, err := io.WriteString(socket, text[:piece]); err != nil {
			break // the server may stop listening
		}
		text = text[piece:]
	}
	socket.(*net.TCPConn).CloseWrite()
	return bufio.NewReader(socket)
}

func expect(t *testing.T, from *bufio.Reader, method string, status int, content string) {
	t.Helper()
	answer, err := http.ReadResponse(from, &http.Request{Method: method})
	if err != nil {
		t.Errorf("expected %d, got no answer: %v", status, err)
		return
	}
	got, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status || content != "" && string(got) != content {
		t.Errorf("expected %d with %.99q, got %d with %.99q, %v", status, content, answer.StatusCode, got, err)
	}
}

const host = "Host: h\r\n"

func get(target string) string { return "GET " + target + " HTTP/1.1\r\n" + host + "\r\n" }

func TestRequestsAreAnsweredInOrderHoweverTheyAreCut(t *testing.T) {
	conversation := get("/") + get("/bytes/5") +
		"POST /echo HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\nhello" +
		"PUT /echo HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n" +
		get("/chunked/2500") + get("/value/k") + get("/value/missing") +
		"HEAD /bytes/5 HTTP/1.1\r\n" + host + "\r\n" + get("/nowhere")
	for _, model := range models {
		for _, piece := range []int{1, 7, len(conversation)} {
			t.Run(fmt.Sprint(model, "/", piece), func(t *testing.T) {
				all := &server{allowed: testLimits(), counts: new(counts), backEnd: newBackEnd(stubRedis(t), 2)}
				t.Cleanup(all.backEnd.close)
				from := say(t, begin(t, model, all), conversation, piece)
				expect(t, from, "GET", 200, "Hello.\n")
				expect(t, from, "GET", 200, "0\n1\n2")
				expect(t, from, "POST", 200, "hello")
				expect(t, from, "PUT", 200, "hello")
				expect(t, from, "GET", 200, string(content[:2500]))
				expect(t, from, "GET", 200, "v")
				expect(t, from, "GET", 404, "")
				expect(t, from, "HEAD", 200, "")
				expect(t, from, "GET", 404, "")
				if got := all.requests.Load(); got != 9 {
					t.Errorf("counted %d requests", got)
				}
			})
		}
	}
}

func TestWhatIsWrongWithARequestIsSaid(t *testing.T) {
	post := "POST /echo HTTP/1.1\r\n" + host
	line := "GET / HTTP/1.1\r\n"
	address := begin(t, "goroutine", &server{allowed: testLimits(), counts: new(counts)})
	for text, status := range map[string]int{
		"nonsense\r\n\r\n":               400,
		"\x00\x01\x02\x03\r\n\r\n":       400,
		line + "\r\n":                    400,
		line + host + host + "\r\n":      400,
		line + host + "no colon\r\n\r\n": 400,
		"GET /" + strings.Repeat("a", 5000) + " HTTP/1.1\r\n" + host + "\r\n": 414,
		"GET /" + strings.Repeat("a", 9000) + " HTTP/1.1\r\n" + host + "\r\n": 414,
		line + host + "A: " + strings.Repeat("a", 9000) + "\r\n\r\n":          431,
		post + "Content-Length: 1048577\r\n\r\n":                              413,
		post + "Content-Length: -1\r\n\r\n":                                   400,
		post + "Content-Length: 1x\r\n\r\n":                                   400,
		post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n":      400,
		post + "Transfer-Encoding: gzip\r\n\r\n":                              501,
		post + "Transfer-Encoding: chunked\r\n\r\nx\r\n":                      400,
		post + "Transfer-Encoding: chunked\r\n\r\n\x10\r\n":                   400,
		post + "Transfer-Encoding: chunked\r\n\r\nfffffff\r\n":                413,
		"BREW / HTTP/1.1\r\n" + host + "\r\n":                                 501,
		"GET / HTTP/2.0\r\n" + host + "\r\n":                                  505,
		"GET / HTPP/1.1\r\n" + host + "\r\n":                                  400,
		"GET / HTTP/1.1 \r\n" + host + "\r\n":                                 400,
		line + host + "A: \x01\r\n\r\n":                                       400,
	} {
		for _, piece := range []int{1, 1 << 20} {
			t.Run(fmt.Sprintf("%.40q/%d", text, piece), func(t *testing.T) {
				from := say(t, address, text, piece)
				expect(t, from, "POST", status, "")
				if left, err := io.ReadAll(from); err != nil || len(left) != 0 {
					t.Errorf("it goes on: %.99q, %v", left, err)
				}
			})
		}
	}
}

func TestSlowClientsGet408AmidARequestAndAPlainEndBetweenThem(t *testing.T) {
	allowed := testLimits()
	allowed.header, allowed.body, allowed.idle = 20*time.Millisecond, 20*time.Millisecond, 20*time.Millisecond
	address := begin(t, "goroutine", &server{allowed: allowed, counts: new(counts)})
	for text, status := range map[string]int{
		"GET / HT": 408,
		"POST /echo HTTP/1.1\r\n" + host + "Content-Length: 2\r\n\r\n": 408,
		"": 0,
	} {
		socket, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		if _, err := io.WriteString(socket, text); err != nil {
			t.Fatal(err)
		}
		from := bufio.NewReader(socket)
		if status != 0 {
			expect(t, from, "GET", status, "")
		} else if _, err := from.ReadByte(); err != io.EOF {
			t.Errorf("expected a plain end, got %v", err)
		}
	}
}

func TestConnectionsAreKeptAsTheClientAsks(t *testing.T) {
	for request, kept := range map[string]bool{
		get("/"): true,
		"GET / HTTP/1.1\r\nConnection: x, close\r\n" + host + "\r\n": false,
		"GET / HTTP/1.0\r\n\r\n":                                     false,
		"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n":           true,
	} {
		from := say(t, begin(t, "goroutine", &server{allowed: testLimits(), counts: new(counts)}), request+get("/bytes/3"), 1<<20)
		expect(t, from, "GET", 200, "Hello.\n")
		if _, err := from.Peek(1); (err == nil) != kept {
			t.Errorf("%q: kept: %v", request, err == nil)
		}
	}
}

// stubRedis has "v" for all keys but "missing", and answers by pieces.
func stubRedis(t *testing.T) string {
	t.Helper()
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { door.Close() })
	go func() {
		for {
			socket, err := door.Accept()
			if err != nil {
				return
			}
			go func() {
				defer socket.Close()
				for from := bufio.NewScanner(socket); from.Scan(); {
					answer := ""
					switch from.Text() {
					case "k":
						answer = "$1\r\nv\r\n"
					case "missing":
						answer = "$-1\r\n"
					case "error":
						answer = "-ERR no\r\n"
					}
					for i := range answer {
						if _, err := io.WriteString(socket, answer[i:i+1]); err != nil {
							return
						}
					}
				}
			}()
		}
	}()
	return door.Addr().String()
}

func TestTheBackEndIsAskedAgainAfterAnError(t *testing.T) {
	from := newBackEnd(stubRedis(t), 1)
	defer from.close()
	by := newQuestion()
	if _, _, err := from.get(0, by, "error"); err == nil {
		t.Error("an error is no value")
	}
	if value, found, err := from.get(0, by, "k"); string(value) != "v" || !found || err != nil {
		t.Errorf("got %q, %v, %v", value, found, err)
	}
	if _, found, err := from.get(0, by, "missing"); found || err != nil {
		t.Errorf("got %v, %v", found, err)
	}
	nobody := newBackEnd("127.0.0.1:1", 1)
	defer nobody.close()
	if _, _, err := nobody.get(0, by, "k"); err == nil {
		t.Error("no server listens there")
	}
}

func TestQuestionsOfManyShareAConnectionAndEachGetsItsAnswer(t *testing.T) {
	from := newBackEnd(stubRedis(t), 2)
	defer from.close()
	failures := make(chan string, 20)
	for client := 0; client < cap(failures); client++ {
		go func(client int) {
			by, failure := newQuestion(), ""
			for i := 0; i < 50; i++ {
				key := "k"
				if (client+i)%3 == 0 {
					key = "missing"
				}
				value, found, err := from.get(client, by, key)
				if err != nil || found != (key == "k") || found && string(value) != "v" {
					failure = fmt.Sprintf("%s: got %q, %v, %v", key, value, found, err)
				}
			}
			failures <- failure
		}(client)
	}
	for i := 0; i < cap(failures); i++ {
		if failure := <-failures; failure != "" {
			t.Error(failure)
		}
	}
}

func TestAllWhoWaitLearnThatTheBackEndHasFailed(t *testing.T) {
	from := newBackEnd(stubRedis(t), 1)
	defer from.close()
	errs := make(chan error, 10)
	for client := 0; client < cap(errs); client++ {
		go func(client int) {
			_, _, err := from.get(client, newQuestion(), "error")
			errs <- err
		}(client)
	}
	for i := 0; i < cap(errs); i++ {
		if err := <-errs; err == nil {
			t.Error("an error is no value")
		}
	}
}

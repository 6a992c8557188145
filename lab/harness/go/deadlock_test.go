package harness

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestGoroutinesThatWaitForEachOtherAreToldFromThoseThatSleep(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	go func() { <-never }()
	time.Sleep(10 * time.Millisecond)
	// The test's own goroutine waits for this one over a channel, as main does.
	done := make(chan [2]bool)
	go func() {
		var found [2]bool
		found[0] = allWait()
		asleep := make(chan struct{})
		go func() {
			time.Sleep(100 * time.Millisecond)
			close(asleep)
		}()
		time.Sleep(10 * time.Millisecond)
		found[1] = allWait()
		<-asleep
		done <- found
	}()
	if found := <-done; !found[0] || found[1] {
		t.Errorf("all wait: got %v", found)
	}
}

func TestADeadlockIsALineOfItsOwn(t *testing.T) {
	sample := Sample{Workload: "w", Model: "m"}
	var out bytes.Buffer
	if code := sample.printDeadlock(&out, "2 wait"); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(out.String(), `"oracle":{"ok":false,"deadlock":true,"checked":"2 wait"},"metrics":{}`) {
		t.Errorf("got %s", out.String())
	}
}

package main

// eventDriven is the applications as state machines, as event_driven.cpp has them.
type eventDriven struct {
	scenario
	net      *network
	happened history
}

type application struct {
	*eventDriven
	serves     bool
	connection int
	request    int
	reads      bool // or its timer is running
	left       int64
}

func runEventDriven(given scenario) history {
	s := &eventDriven{scenario: given, net: newNetwork(given.connections)}
	for i := 0; i < given.connections; i++ {
		client := &application{eventDriven: s, connection: i}
		server := &application{eventDriven: s, connection: i, serves: true, reads: true, left: requestBytes}
		client.think()
		server.readRequest()
	}
	s.net.run()
	return s.happened
}

func (a *application) resume() {
	switch {
	case a.serves && a.reads:
		a.readRequest()
	case a.serves:
		a.serviceOver()
	case a.reads:
		a.readAnswer()
	default:
		a.thoughtOver()
	}
}

func (a *application) think() { a.wait(a.thought(a.connection, a.request)) }

func (a *application) thoughtOver() {
	a.note(asks)
	a.net.send(2*a.connection, requestBytes)
	a.reads = true
	a.left = a.answerBytes(a.connection, a.request)
	a.readAnswer()
}

func (a *application) readAnswer() {
	if !a.read(2 * a.connection) {
		return
	}
	a.note(hasItsAnswer)
	if a.request++; a.request < a.requests {
		a.think()
	}
}

func (a *application) readRequest() {
	if a.read(2*a.connection + 1) {
		a.note(isAsked)
		a.wait(a.service(a.connection, a.request))
	}
}

func (a *application) serviceOver() {
	a.note(answers)
	a.net.send(2*a.connection+1, a.answerBytes(a.connection, a.request))
	if a.request++; a.request == a.requests {
		return
	}
	a.reads = true
	a.left = requestBytes
	a.readRequest()
}

func (a *application) note(what uint64) {
	a.happened.note(a.net.now, what, a.connection, a.request)
}

func (a *application) wait(delay int64) {
	a.reads = false
	a.net.resumeAfter(delay, a)
}

func (a *application) read(socket int) bool {
	a.left -= a.net.take(socket)
	if a.left == 0 {
		return true
	}
	a.net.resumeWithData(socket, a)
	return false
}

package main

import (
	"net"
	"sync"
	"time"
)

// ownLoop is a goroutine a connection, over the packages net and net/textproto.
type ownLoop struct {
	*server
	door    net.Listener
	places  chan struct{} // for further connections
	mutex   sync.Mutex
	clients map[*connection]struct{}
	all     sync.WaitGroup
}

func newOwnLoop(s *server) *ownLoop {
	return &ownLoop{server: s, places: make(chan struct{}, s.allowed.connections), clients: map[*connection]struct{}{}}
}

func (o *ownLoop) serve(door net.Listener) error {
	o.mutex.Lock()
	o.door = door
	o.mutex.Unlock()
	for !o.stopping.Load() {
		o.places <- struct{}{}
		socket, err := door.Accept()
		if err != nil {
			<-o.places
			if o.stopping.Load() {
				break
			}
			time.Sleep(time.Millisecond) // no descriptor, for instance: there may be one later
			continue
		}
		client := newConnection(o.server, socket)
		o.opened()
		o.mutex.Lock()
		o.clients[client] = struct{}{}
		o.mutex.Unlock()
		o.all.Add(1)
		go o.serveOne(client)
	}
	door.Close()
	o.all.Wait()
	return nil
}

func (o *ownLoop) serveOne(client *connection) {
	defer o.all.Done()
	client.serve()
	o.mutex.Lock()
	delete(o.clients, client)
	o.mutex.Unlock()
	client.socket.Close()
	o.open.Add(-1)
	<-o.places
}

// stop is called when the server is stopping. Who waits for a request of which nothing has come is woken.
func (o *ownLoop) stop() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.door != nil {
		o.door.Close()
	}
	for client := range o.clients {
		client.stopWaiting()
	}
}

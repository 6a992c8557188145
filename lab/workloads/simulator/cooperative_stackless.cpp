#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/simulator/virtual_network.hpp"

namespace heddle::lab::simulating {
namespace {

coop::task<> read_all(virtual_network& net, int socket, std::int64_t left) {
  while (left > 0) {
    std::int64_t bytes = net.take(socket);
    if (bytes == 0) {
      net.blocked();
      co_await net.data(socket).P();
      bytes = net.take(socket);
    }
    left -= bytes;
  }
}

coop::task<> client(virtual_network& net, int connection) {
  const scenario& given = net.given();
  const int socket = network::client(connection);
  for (int request = 0; request < given.requests; ++request) {
    net.blocked();
    co_await coop::sleep_for(coop::duration(given.thought(connection, request)));
    net.note(what::asks, connection, request);
    net.send(socket, scenario::request_bytes);
    co_await read_all(net, socket, given.answer_bytes(connection, request));
    net.note(what::has_its_answer, connection, request);
  }
  net.ended();
}

coop::task<> server(virtual_network& net, int connection) {
  const scenario& given = net.given();
  const int socket = network::server(connection);
  for (int request = 0; request < given.requests; ++request) {
    co_await read_all(net, socket, scenario::request_bytes);
    net.note(what::is_asked, connection, request);
    net.blocked();
    co_await coop::sleep_for(coop::duration(given.service(connection, request)));
    net.note(what::answers, connection, request);
    net.send(socket, given.answer_bytes(connection, request));
  }
  net.ended();
}

coop::task<> link(virtual_network& net) {
  while (net.more()) {
    if (net.idle()) {
      co_await net.sending().P();
    } else {
      co_await coop::sleep_until(net.arrival());
      net.arrive();
    }
  }
}

void run(problem& work, region& timed) {
  virtual_network net(work);
  net.time().spawn(link(net), "link");
  for (int i = 0; i < work.given().connections; ++i) {
    net.time().spawn(client(net, i));
    net.time().spawn(server(net, i));
  }
  timed.begin();
  net.time().run();
  timed.end();
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::simulating

#include "heddle/coop/await.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/simulator/applications.hpp"
#include "workloads/simulator/virtual_network.hpp"

namespace heddle::lab::simulating {
namespace {

using coop::await;

// The blocking calls of a fiber.
struct process {
  virtual_network& net;

  void sleep(nanoseconds length) {
    net.blocked();
    await(coop::sleep_for(coop::duration(length)));
  }
  std::int64_t read(int socket) {
    std::int64_t bytes = net.take(socket);
    if (bytes == 0) {
      net.blocked();
      await(net.data(socket).P());
      bytes = net.take(socket);
    }
    return bytes;
  }
  void send(int socket, std::int64_t bytes) { net.send(socket, bytes); }
  void note(what happened, int connection, int request) { net.note(happened, connection, request); }
};

void link(virtual_network& net) {
  while (net.more()) {
    if (net.idle()) {
      await(net.sending().P());
    } else {
      await(coop::sleep_until(net.arrival()));
      net.arrive();
    }
  }
}

void run(problem& work, region& timed) {
  virtual_network net(work);
  net.time().spawn([&net] { link(net); }, "link");
  for (int i = 0; i < work.given().connections; ++i) {
    net.time().spawn([&net, i] {
      process self{net};
      client(self, net.given(), i);
      net.ended();
    });
    net.time().spawn([&net, i] {
      process self{net};
      server(self, net.given(), i);
      net.ended();
    });
  }
  timed.begin();
  net.time().run();
  timed.end();
}

const model<problem> cooperative_asm{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::simulating

#include <coroutine>
#include <vector>

#include "heddle/coop/task.hpp"
#include "workloads/simulator/network.hpp"
#include "workloads/simulator/workload.hpp"

namespace heddle::lab::simulating {
namespace {

// Resumes a coroutine from the event loop.
struct suspended : network::waiter {
  std::coroutine_handle<> coroutine;
  suspended() : network::waiter{&resumed} {}
  static void resumed(network::waiter& self) { static_cast<suspended&>(self).coroutine.resume(); }
};

struct sleep : suspended {
  problem& work;
  network& net;
  nanoseconds length;
  sleep(problem& problem_of_all, network& on, nanoseconds time)
      : work(problem_of_all), net(on), length(time) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) {
    coroutine = self;
    work.blocked();
    net.resume_after(length, *this);
  }
  void await_resume() const noexcept {}
};

struct read : suspended {
  problem& work;
  network& net;
  int socket;
  std::int64_t bytes = 0;
  read(problem& problem_of_all, network& on, int from)
      : work(problem_of_all), net(on), socket(from) {}
  bool await_ready() { return (bytes = net.take(socket)) != 0; }
  void await_suspend(std::coroutine_handle<> self) {
    coroutine = self;
    work.blocked();
    net.resume_with_data(socket, *this);
  }
  std::int64_t await_resume() { return bytes != 0 ? bytes : net.take(socket); }
};

// The applications of applications.hpp, with co_await.
coop::task<> client(problem& work, network& net, int connection) {
  const scenario& given = work.given();
  const int socket = network::client(connection);
  for (int request = 0; request < given.requests; ++request) {
    co_await sleep(work, net, given.thought(connection, request));
    work.happened().note(net.now(), what::asks, connection, request);
    net.send(socket, scenario::request_bytes);
    for (std::int64_t left = given.answer_bytes(connection, request); left > 0;) {
      left -= co_await read(work, net, socket);
    }
    work.happened().note(net.now(), what::has_its_answer, connection, request);
  }
}

coop::task<> server(problem& work, network& net, int connection) {
  const scenario& given = work.given();
  const int socket = network::server(connection);
  for (int request = 0; request < given.requests; ++request) {
    for (std::int64_t left = scenario::request_bytes; left > 0;) {
      left -= co_await read(work, net, socket);
    }
    work.happened().note(net.now(), what::is_asked, connection, request);
    co_await sleep(work, net, given.service(connection, request));
    work.happened().note(net.now(), what::answers, connection, request);
    net.send(socket, given.answer_bytes(connection, request));
  }
}

void run(problem& work, region& timed) {
  network net(work.given().connections);
  std::vector<coop::task<>> all;
  for (int i = 0; i < work.given().connections; ++i) {
    all.push_back(client(work, net, i));
    all.push_back(server(work, net, i));
  }
  timed.begin();
  for (const auto& each : all) each.resume();
  net.run();
  timed.end();
}

const model<problem> stackless{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::simulating

// Two processes, a scheduler in each, with a link between them over a Unix socket.
#include "heddle/coop/io/service.hpp"
#include "heddle/coop/link/process.hpp"
#include "heddle/coop/scheduler.hpp"
#include "workloads/group_speed/child.hpp"
#include "workloads/group_speed/workload.hpp"

namespace heddle::lab::group_speed {
namespace {

using namespace coop;

using end_of_link = link_end<std::int64_t, std::int64_t>;

// Runs `body(end)` as a fiber; the end is closed when it returns.
template <class Body>
void with_link(int socket, const Body& body) {
  scheduler s({.stack_bytes = coop::stack::safe_bytes});
  const io::service net(s);
  s.spawn([&] {
    end_of_link end =
        link_over<std::int64_t, std::int64_t>(net.adopt_socket(socket, "the other"), "turns");
    body(end);
  });
  s.run();
}

void serve(int socket) {
  with_link(socket, [](end_of_link& end) {
    end.on([](std::int64_t place) { return place + 1; });
    await(end.finished());
  });
}

void run(problem& work, region& timed) {
  if (work.row() != "request") throw cannot_run("a link is for requests");
  timed.kernel_threads(2);
  child other(&serve);
  with_link(other.take_socket(), [&](end_of_link& end) {
    timed.begin();
    for (std::int64_t i = 0; i < work.turns(); i += 2) {
      const std::int64_t answer = await(end.call(i));
      work.take_turn(0, answer - 1);
      work.take_turn(1, answer);
    }
    timed.end();
  });
  other.wait();
}

const model<problem> registered{"process/link", &run};

}  // namespace
}  // namespace heddle::lab::group_speed

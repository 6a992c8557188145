// Groups of fibers, or of tasks, with a link between them: each request makes a strand that
// answers it.
#include "harness/strand_kinds.hpp"
#include "heddle/coop/link/link.hpp"
#include "heddle/coop/parallel/barrier.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "workloads/group_speed/workload.hpp"

namespace heddle::lab::group_speed {
namespace {

using namespace coop;

void run(problem& work, region& timed) {
  if (work.row() != "request") throw cannot_run("a link is for requests");
  timed.kernel_threads(3);
  parallel::groups g({.count = 2, .each = {.stack_bytes = coop::stack::safe_bytes}});
  auto [client, server] = make_link<std::int64_t, std::int64_t>("turns");
  parallel::barrier begun(g, 1);
  g[1].spawn([&work, &begun, end = std::move(server)]() mutable -> STRAND {
    end.on([&work](std::int64_t place) -> RESULT(std::int64_t) {
      work.take_turn(1, place + 1);
      RETURN place + 1;
    });
    WAIT(begun.arrive_and_wait());
    WAIT(end.finished());
  });
  g[0].spawn([&work, &timed, &begun, end = std::move(client)]() mutable -> STRAND {
    WAIT(begun.arrive_and_wait());
    timed.begin();
    for (std::int64_t i = 0; i < work.turns(); i += 2) work.take_turn(0, WAIT(end.call(i)) - 1);
    timed.end();
    end.close();
  });
  g.run();
}

const model<problem> registered{"parallel/" KIND "-link", &run};

}  // namespace
}  // namespace heddle::lab::group_speed

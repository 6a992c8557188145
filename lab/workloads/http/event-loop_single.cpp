// One thread that does everything: I/O multiplexing without a pool.
#include "workloads/http/event_loop.hpp"

namespace heddle::lab::http {
namespace {

void run(problem& work, region& timed) {
  event_loop one(work, event_loop::clients_from::door, work.back_ends());
  timed.begin();
  one.run();
  timed.end();
}

const model<problem> registered{"event-loop/single", &run};

}  // namespace
}  // namespace heddle::lab::http

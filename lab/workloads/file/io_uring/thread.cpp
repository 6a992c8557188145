#include "harness/team.hpp"
#include "workloads/file/io_uring/ring_file.hpp"
#include "workloads/file/record_locks.hpp"

namespace heddle::lab::file {
namespace {

// A ring for each thread, one request at a time.
void run(problem& work, region& timed) {
  { const ring_file tried(work.data.fd()); }  // where there are none, not only a thread learns it
  record_locks locks;
  timed.begin();
  run_on_threads(timed, work.threads(), [&](int strand) {
    ring_file data(work.data.fd());
    outcome seen;
    work.for_each_of(strand, [&](const operation& each) {
      const auto held = locks.guard(each);
      work.perform_on(data, each, strand, seen);
    });
    work.outcome_of(strand) = seen;
  });
  timed.end();
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::file

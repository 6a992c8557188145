#include "harness/team.hpp"
#include "workloads/file/io_uring/ring_file.hpp"
#include "workloads/file/record_locks.hpp"

namespace heddle::lab::file {
namespace {

// A ring for each thread, one request at a time.
void run(problem& work, region& timed) {
  record_locks locks;
  run_on_threads(timed, work.threads(), [&](int strand) {
    ring_file data(work.data.fd());
    outcome seen;
    work.for_each_of(strand, [&](const operation& each) {
      const auto held = locks.guard(each);
      work.perform_on(data, each, strand, seen);
    });
    work.outcome_of(strand) = seen;
  });
}

const model<problem> thread{"thread", &run};

}  // namespace
}  // namespace heddle::lab::file

#include "heddle/coop/task.hpp"
#include "workloads/buffer/sides.hpp"

namespace heddle::lab::buffer {
namespace {

void run(problem& work, region& timed) {
  between_groups shared(work);
  run_sides(
      work, timed,
      [&](int who) -> coop::task<> {
        for (std::int64_t item = 0; item < work.items(); ++item) {
          work.produce(who, no_checkpoint);
          co_await shared.empty.P();
          work.deposit(who, no_checkpoint);
          shared.full.V();
        }
      },
      [&](int who) -> coop::task<> {
        for (std::int64_t left = work.share_of(who); left > 0; --left) {
          co_await shared.full.P();
          work.fetch(who, no_checkpoint);
          shared.empty.V();
          work.consume(who, no_checkpoint);
        }
      });
}

const model<problem> parallel_stackless{"parallel/stackless", &run};

}  // namespace
}  // namespace heddle::lab::buffer

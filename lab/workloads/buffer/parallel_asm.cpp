#include "workloads/buffer/sides.hpp"

namespace heddle::lab::buffer {
namespace {

using coop::await;

void run(problem& work, region& timed) {
  between_groups shared(work);
  run_sides(
      work, timed,
      [&](int who) {
        for (std::int64_t item = 0; item < work.items(); ++item) {
          work.produce(who, no_checkpoint);
          await(shared.empty.P());
          work.deposit(who, no_checkpoint);
          shared.full.V();
        }
      },
      [&](int who) {
        for (std::int64_t left = work.share_of(who); left > 0; --left) {
          await(shared.full.P());
          work.fetch(who, no_checkpoint);
          shared.empty.V();
          work.consume(who, no_checkpoint);
        }
      });
}

const model<problem> parallel_asm{"parallel/asm", &run};

}  // namespace
}  // namespace heddle::lab::buffer

#include <vector>

#include "harness/waiting.hpp"
#include "heddle/coop/scheduler.hpp"
#include "workloads/buffer/workload.hpp"

namespace heddle::lab::buffer {
namespace {

// Producers and consumers as fibers that share the number of items in the buffer. `Waiting` is how
// they wait for it.
template <class Waiting>
void run(problem& work, region&) {
  coop::scheduler s;
  Waiting waiting;
  typename Waiting::template variable<int> items{0};
  std::vector<coop::strand_ref> producers;
  std::vector<coop::strand_ref> consumers;
  // A named yield names the strands of the other side in turn.
  const auto in_turn = [](const std::vector<coop::strand_ref>& side, std::size_t& turn) {
    return [&side, &turn]() -> const coop::strand_ref& {
      turn = turn + 1 < side.size() ? turn + 1 : 0;
      return side[turn];
    };
  };
  for (int who = 0; who < work.producers(); ++who) {
    producers.push_back(s.spawn([&, who] {
      auto turn = static_cast<std::size_t>(who);
      for (std::int64_t item = 0; item < work.items(); ++item) {
        work.produce(who, no_checkpoint);
        waiting.until([&] { return items < work.slots(); }, in_turn(consumers, turn), items);
        work.deposit(who, no_checkpoint);
        ++items;
      }
    }));
  }
  for (int who = 0; who < work.consumers(); ++who) {
    consumers.push_back(s.spawn([&, who] {
      auto turn = static_cast<std::size_t>(who);
      for (std::int64_t left = work.share_of(who); left > 0; --left) {
        waiting.until([&] { return items > 0; }, in_turn(producers, turn), items);
        work.fetch(who, no_checkpoint);
        --items;
        work.consume(who, no_checkpoint);
      }
    }));
  }
  s.run();
  work.waited(waiting.done());
}

const model<problem> models[] = {
    {"cooperative/asm", &run<by_wait_for>},
    {"cooperative/asm-loop", &run<by_yield_loop>},
    {"cooperative/asm-named", &run<by_named_yield>},
    {"cooperative/asm-watched", &run<by_wait_until>},
};

}  // namespace
}  // namespace heddle::lab::buffer

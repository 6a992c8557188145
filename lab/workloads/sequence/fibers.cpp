#include <cstddef>
#include <memory>
#include <vector>

#include "harness/fiber_models.hpp"
#include "workloads/sequence/workload.hpp"

namespace heddle::lab::sequence {
namespace {

// Generators with a stack of their own, on any of our contexts.
template <coop::context Context>
class fibers {
 public:
  static void run(problem& work, region& timed) {
    switch (work.from()) {
      case memory::source:
        return as_the_source(work, timed);
      case memory::pooled:
        return pooled(work, timed);
      case memory::excluded:
        return excluded(work, timed);
    }
  }

 private:
  static constexpr std::size_t pooled_bytes = 64 * 1024;
  static constexpr std::size_t source_bytes = 512 * 1024;
  // The most fibers that keep their stacks to the end: each stack has two or three touched pages.
  static constexpr std::int64_t most_kept = 1000;

  struct counting {
    counting(Context& to, std::int64_t items_given, std::size_t stack_bytes)
        : loop(to), items(items_given), body(&main, this, stack_bytes) {}

    std::int64_t next() {
      Context::switch_to(loop, body);
      return item;
    }
    // Lets the body return, to the context that is no coroutine; that costs less than to unwind it.
    void finish() { Context::switch_to(loop, body); }

    static void main(void* argument) {
      auto& self = *static_cast<counting*>(argument);
      for (std::int64_t i = 0; i < self.items; ++i) {
        self.item = i;
        Context::switch_to(self.body, self.loop);
      }
    }

    Context& loop;
    const std::int64_t items;
    std::int64_t item = 0;
    Context body;
  };

  static taker take_all(counting& numbers) {
    taker items;
    for (std::int64_t i = 0; i < numbers.items; ++i) items.take(numbers.next());
    return items;
  }

  // The loop runs in a context, too, and makes the generator there; their stacks are kept to the
  // end, so that each is new.
  struct loop_in_a_context {
    loop_in_a_context(problem& all, std::vector<std::unique_ptr<counting>>& to_keep)
        : work(all), kept(to_keep), body(&main, this, source_bytes) {}

    static void main(void* argument) {
      auto& self = *static_cast<loop_in_a_context*>(argument);
      self.kept.push_back(std::make_unique<counting>(self.body, self.work.items(), source_bytes));
      self.work.finish(take_all(*self.kept.back()));
    }

    problem& work;
    std::vector<std::unique_ptr<counting>>& kept;
    Context body;
  };

  static void as_the_source(problem& work, region& timed) {
    const std::int64_t generators = work.generators(most_kept);
    std::vector<std::unique_ptr<counting>> kept;
    std::vector<std::unique_ptr<loop_in_a_context>> loops;
    kept.reserve(static_cast<std::size_t>(generators));
    loops.reserve(static_cast<std::size_t>(generators));
    Context main;
    timed.begin();
    for (std::int64_t each = 0; each < generators; ++each) {
      loops.push_back(std::make_unique<loop_in_a_context>(work, kept));
      Context::switch_to(main, loops.back()->body);
    }
    timed.end();
    counted(generators * (work.items() + 1));
  }

  static void pooled(problem& work, region& timed) {
    const std::int64_t generators = work.generators();
    Context loop;
    timed.begin();
    for (std::int64_t each = 0; each < generators; ++each) {
      counting numbers(loop, work.items(), pooled_bytes);
      work.finish(take_all(numbers));
      numbers.finish();
    }
    timed.end();
    counted(generators * (work.items() + 1));
  }

  static void excluded(problem& work, region& timed) {
    const std::int64_t generators = work.generators();
    Context loop;
    counting numbers(loop, generators * work.items(), pooled_bytes);
    timed.begin();
    work.finish(take_all(numbers), generators);
    timed.end();
    numbers.finish();
    counted(generators * work.items() + 1);
  }

  static void counted(std::int64_t round_trips) {
    count().strand_switches += static_cast<std::uint64_t>(2 * round_trips);
  }
};

const fiber_models<problem, fibers> registered;

}  // namespace
}  // namespace heddle::lab::sequence

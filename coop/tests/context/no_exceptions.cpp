// Compiled with -fno-exceptions: contexts and fibers are of use without. A context that is deleted
// while it is suspended in transfer() is told so, and returns.
#include <cstdio>

#include "backends.hpp"
#include "heddle/coop/await.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/yield.hpp"

namespace {

template <class Context>
struct pair {
  Context home;
  Context* other = nullptr;
  int turns = 0;
  bool told = false;

  static void run(void* self) {
    auto& all = *static_cast<pair*>(self);
    while (Context::transfer(*all.other, all.home) == heddle::coop::resume_reason::run) ++all.turns;
    all.told = true;
  }
};

template <class Context>
bool works() {
  pair<Context> all;
  {
    Context other(&pair<Context>::run, &all, stack_bytes);
    all.other = &other;
    for (int turn = 0; turn < 10; ++turn) Context::switch_to(all.home, other);
  }
  if (all.turns == 9 && all.told) return true;
  std::fprintf(stderr, "%.*s: %d turns, told: %d\n", static_cast<int>(Context::name.size()),
               Context::name.data(), all.turns, all.told);
  return false;
}

template <class... Contexts>
bool all_work() {
  bool all = true;
  ((all = works<Contexts>() && all), ...);  // each of them, whatever the others did
  return all;
}

bool fibers_work() {
  heddle::coop::scheduler s;
  int turns = 0;
  for (int i = 0; i < 10; ++i) {
    s.spawn([&] {
      for (int turn = 0; turn < 10; ++turn, ++turns) heddle::coop::await(heddle::coop::yield());
    });
  }
  s.run();
  if (turns == 100) return true;
  std::fprintf(stderr, "fibers: %d turns\n", turns);
  return false;
}

}  // namespace

int main() { return all_work<HEDDLE_BACKENDS>() && fibers_work() ? 0 : 1; }

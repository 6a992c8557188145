// Fibers of our own scheduler, which announces its strands to the recorder.
#include <heddle/coop/scheduler.hpp>
#include <heddle/coop/sync/semaphore.hpp>
#include <heddle/coop/yield.hpp>

#include "../truth.hpp"
#include "library.hpp"

namespace library {
namespace {

namespace coop = heddle::coop;

/// A fiber that begins the others, so that there are never more than are wanted.
TRACED void begins(coop::scheduler& s, const plan& what) {
  truth::call here{"begins"};
  maker = nullptr;
  coop::semaphore room(what.at_once, "room");
  for (unsigned i = 1; i <= what.count; ++i) {
    coop::await(room.P());
    here.back();
    s.spawn([&what, &room, i]() PLAIN {
      what.entry(i);
      room.V();
    });
    truth::point();
  }
  for (unsigned i = 0; i < what.at_once; ++i) {
    coop::await(room.P());
    here.back();
  }
}

}  // namespace

const std::size_t small_stack = 4096;
PLAIN void run(const plan& what) {
  coop::scheduler s(
      {.random_seed = 7, .stack_bytes = what.stack_bytes, .stack_guard = coop::stack_guard::none});
  s.spawn([&]() PLAIN {
    truth::running() = new truth::strand(truth::kind::fiber);
    begins(s, what);
  });
  s.run();
  // No call of this thread's own is open: it has no strand yet, or it is its first again.
}

PLAIN void give_way() { coop::await(coop::yield()); }

}  // namespace library

// Fibers of our own scheduler, which says who makes them.
#include <heddle/coop/scheduler.hpp>
#include <heddle/coop/yield.hpp>

#include "../truth.hpp"
#include "library.hpp"

namespace library {
namespace {

namespace coop = heddle::coop;

PLAIN coop::scheduler& scheduler() {
  static coop::scheduler all(
      {.random_seed = 7, .stack_bytes = 32768, .stack_guard = coop::stack_guard::none});
  return all;
}

}  // namespace

PLAIN void make(void (*entry)(void*), void* argument) {
  scheduler().spawn([=]() PLAIN { entry(argument); });
}
PLAIN void run() { scheduler().run(); }
PLAIN void give_way() { coop::await(coop::yield()); }

}  // namespace library

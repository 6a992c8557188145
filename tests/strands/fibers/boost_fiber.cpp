// Boost.Fiber's fibers, by its own round robin.
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/fixedsize_stack.hpp>
#include <boost/fiber/operations.hpp>

#include "../truth.hpp"
#include "library.hpp"

namespace library {

namespace {

// A name of its own: Boost's functions are traced, too.
TRACED void runs_all(const plan& what) {
  truth::call here{"runs_all"};
  unsigned alive = 0;
  for (unsigned i = 1; i <= what.count; ++i) {
    while (alive >= what.at_once) {
      boost::this_fiber::yield();
      here.back();
    }
    ++alive;
    boost::fibers::fiber(std::allocator_arg, boost::fibers::fixedsize_stack(what.stack_bytes),
                         [&what, &alive, i] {
                           what.entry(i);
                           --alive;
                         })
        .detach();
    here.back();
    truth::point();
  }
  while (alive > 0) {
    boost::this_fiber::yield();
    here.back();
  }
  truth::point();
}

}  // namespace

const std::size_t small_stack = 16384;
PLAIN void run(const plan& what) { runs_all(what); }
PLAIN void give_way() { boost::this_fiber::yield(); }

}  // namespace library

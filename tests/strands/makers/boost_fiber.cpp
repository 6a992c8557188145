// Boost.Fiber's fibers: some begin at once, others when its round robin says.
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/fixedsize_stack.hpp>
#include <boost/fiber/operations.hpp>

#include "../chance.hpp"
#include "library.hpp"

namespace library {
namespace {

unsigned alive = 0;

}  // namespace

PLAIN void make(void (*entry)(void*), void* argument) {
  ++alive;
  const auto how = chance(3) == 0 ? boost::fibers::launch::dispatch : boost::fibers::launch::post;
  boost::fibers::fiber(how, std::allocator_arg, boost::fibers::fixedsize_stack(32768), [=]() PLAIN {
    entry(argument);
    --alive;
  }).detach();
}
PLAIN void run() {
  while (alive > 0) boost::this_fiber::yield();
}
PLAIN void give_way() { boost::this_fiber::yield(); }

}  // namespace library

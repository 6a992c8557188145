// Boost.Context's fibers, on stacks side by side. Their functions are as traced as ours.
#include <boost/context/fiber.hpp>

#include "contexts.hpp"
#include "slab.hpp"

namespace library {
namespace {

namespace context = boost::context;

struct allocator {
  std::size_t bytes;
  PLAIN context::stack_context allocate() const {
    context::stack_context made;
    made.size = bytes;
    made.sp = slab::take(bytes) + bytes;
    return made;
  }
  PLAIN void deallocate(context::stack_context& stack) const noexcept {
    slab::give(static_cast<char*>(stack.sp) - stack.size);
  }
};

class boost_fiber {
 public:
  boost_fiber() = default;
  boost_fiber(void (*entry)(void*), void* argument, std::size_t stack_bytes)
      : own_(false),
        saved_(std::allocator_arg, allocator{stack_bytes},
               [this, entry, argument](context::fiber&& from) {
                 came_from_->saved_ = std::move(from);
                 entry(argument);
                 return std::move(home_->saved_);
               }) {}

  static void switch_to(boost_fiber& from, boost_fiber& to) {
    to.home_ = from.own_ ? &from : from.home_;
    to.came_from_ = &from;
    context::fiber back = std::move(to.saved_).resume();
    // Empty, where one has ended.
    if (back) from.came_from_->saved_ = std::move(back);
  }

 private:
  bool own_ = true;
  context::fiber saved_;
  boost_fiber* home_ = nullptr;
  boost_fiber* came_from_ = nullptr;
};

}  // namespace

const std::size_t small_stack = 4096;
PLAIN void run(const plan& what) { fleet<boost_fiber>::run(what); }
PLAIN void give_way() { fleet<boost_fiber>::give_way(); }

}  // namespace library

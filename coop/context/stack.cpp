#include "heddle/coop/context/stack.hpp"

#include "heddle/coop/context/context.hpp"
#include "stack_overflow.hpp"
#include "stack_pool.hpp"

#if defined(HEDDLE_VALGRIND)
#include <valgrind/memcheck.h>
#endif

namespace heddle::coop {

stack::stack(std::size_t bytes, stack_guard guard) {
  if (guard == stack_guard::page) detail::report_overflows();
  if (bytes < safe_bytes) {
    static const bool bound = (detail::bind_unwinder(), true);
    static_cast<void>(bound);
  }
  const auto taken = detail::stack_pool::process().take(bytes, guard);
  bottom_ = taken.bottom;
  top_ = taken.top;
  slab_ = taken.slab;
#if defined(HEDDLE_VALGRIND)
  VALGRIND_MAKE_MEM_UNDEFINED(bottom_, top_ - bottom_);  // not what the frames before left there
  valgrind_id_ = VALGRIND_STACK_REGISTER(bottom_, top_);
#endif
}

stack::~stack() {
  if (slab_ == nullptr) return;
#if defined(HEDDLE_VALGRIND)
  VALGRIND_STACK_DEREGISTER(valgrind_id_);
#endif
  detail::stack_pool::give_back(*slab_, bottom_);
}

}  // namespace heddle::coop

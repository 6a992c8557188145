#include "heddle/coop/context/asm_context.hpp"

#include <cstddef>
#include <cstring>

#include "stackful_context.hpp"

namespace heddle::coop {

void detail::asm_switch::prepare(const stack& stack, first_function first) noexcept {
  static_assert(offsetof(asm_switch, ip) == 0 && offsetof(asm_switch, sp) == 8 &&
                offsetof(asm_switch, bp) == 16);
  // `first` is entered by a jump but compiled to be called: it expects a return address on top of a
  // stack that was 16-byte aligned before. Address 0 there, and frame pointer 0, end a backtrace.
  std::byte* const top = stack.top() - sizeof(void*);
  std::memset(top, 0, sizeof(void*));
  ip = reinterpret_cast<void*>(first);
  sp = top;
}

template class stackful_context<detail::asm_switch>;

}  // namespace heddle::coop

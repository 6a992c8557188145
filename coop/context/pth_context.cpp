#include "heddle/coop/context/pth_context.hpp"

#include <pth.h>

#include <cerrno>
#include <system_error>

#include "stackful_context.hpp"

namespace heddle::coop {
namespace {

void enter(void* argument) noexcept {
  auto* const self = static_cast<detail::pth_switch*>(argument);
  self->first(self, self->resumer, self->reason);
}

}  // namespace

detail::pth_switch::pth_switch() noexcept {
  if (pth_uctx_create(&saved) == FALSE) fatal("no memory for a context of GNU Pth");
}

detail::pth_switch::~pth_switch() { pth_uctx_destroy(saved); }

void detail::pth_switch::prepare(const stack& stack, first_function first_to_run) {
  first = first_to_run;
  if (pth_uctx_make(saved, reinterpret_cast<char*>(stack.bottom()), stack.bytes(), nullptr, &enter,
                    this, nullptr) == FALSE) {
    throw std::system_error(errno, std::generic_category(), "GNU Pth can't make a context");
  }
}

resume_reason detail::pth_switch::jump(pth_switch& from, pth_switch& to,
                                       resume_reason why) noexcept {
  to.resumer = &from;
  to.reason = why;
  pth_uctx_switch(from.saved, to.saved);
  return from.reason;
}

template class stackful_context<detail::pth_switch>;

}  // namespace heddle::coop

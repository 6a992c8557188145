#include "heddle/coop/context/boost_context.hpp"

#include "stackful_context.hpp"

namespace heddle::coop {
namespace {

using boost::context::detail::transfer_t;

void enter(transfer_t from) noexcept {
  auto* const self = static_cast<detail::boost_switch*>(from.data);
  self->resumer->saved = from.fctx;
  self->first(self, self->resumer, self->reason);
}

}  // namespace

void detail::boost_switch::prepare(const stack& stack, first_function first_to_run) noexcept {
  first = first_to_run;
  saved = boost::context::detail::make_fcontext(stack.top(), stack.bytes(), &enter);
}

template class stackful_context<detail::boost_switch>;

}  // namespace heddle::coop

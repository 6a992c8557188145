// The C library's contexts: makecontext, swapcontext.
#include <ucontext.h>

#include "contexts.hpp"
#include "slab.hpp"

namespace library {
namespace {

class ucontext {
 public:
  PLAIN ucontext() = default;
  PLAIN ucontext(void (*entry)(void*), void* argument, std::size_t stack_bytes)
      : entry_(entry), argument_(argument), stack_(slab::take(stack_bytes)) {
    getcontext(&saved_);
    saved_.uc_stack.ss_sp = stack_;
    saved_.uc_stack.ss_size = stack_bytes;
    saved_.uc_link = nullptr;
    const auto self = reinterpret_cast<unsigned long>(this);
    makecontext(&saved_, reinterpret_cast<void (*)()>(&ucontext::first), 2,
                static_cast<unsigned>(self), static_cast<unsigned>(self >> 32));
  }
  PLAIN ~ucontext() {
    if (stack_ != nullptr) slab::give(stack_);
  }
  ucontext(const ucontext&) = delete;
  ucontext& operator=(const ucontext&) = delete;

  PLAIN static void switch_to(ucontext& from, ucontext& to) {
    to.home_ = from.stack_ == nullptr ? &from : from.home_;
    swapcontext(&from.saved_, &to.saved_);
  }

 private:
  PLAIN static void first(unsigned low, unsigned high) {
    auto* const self = reinterpret_cast<ucontext*>(low | static_cast<unsigned long>(high) << 32);
    self->entry_(self->argument_);
    setcontext(&self->home_->saved_);
  }

  ucontext_t saved_{};
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  char* stack_ = nullptr;
  ucontext* home_ = nullptr;
};

}  // namespace

const std::size_t small_stack = 4096;
PLAIN void run(const plan& what) { fleet<ucontext>::run(what); }
PLAIN void give_way() { fleet<ucontext>::give_way(); }

}  // namespace library

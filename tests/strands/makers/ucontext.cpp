// The C library's contexts. Their stacks are used again.
#include <ucontext.h>

#include "queue.hpp"

namespace library {
namespace {

class context {
 public:
  PLAIN context() = default;
  PLAIN context(void (*entry)(), char* stack, std::size_t bytes) : saved_(new ucontext_t) {
    getcontext(saved_.get());
    saved_->uc_stack.ss_sp = stack;
    saved_->uc_stack.ss_size = bytes;
    saved_->uc_link = nullptr;
    makecontext(saved_.get(), entry, 0);
  }
  PLAIN static void switch_to(context& from, context& to) {
    if (from.saved_ == nullptr) from.saved_ = std::make_unique<ucontext_t>();
    swapcontext(from.saved_.get(), to.saved_.get());
  }

 private:
  // It holds its own address, so it stays where it is.
  std::unique_ptr<ucontext_t> saved_;
};

using all = queue<context>;

}  // namespace

PLAIN void make(void (*entry)(void*), void* argument) { all::make(entry, argument); }
PLAIN void run() { all::run(); }
PLAIN void give_way() { all::give_way(); }

}  // namespace library

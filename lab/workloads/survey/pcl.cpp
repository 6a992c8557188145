// The Portable Coroutine Library (D. Libenzi): co_create, co_call and co_resume. Its makers chose
// among makecontext, sigaltstack and setjmp when it was compiled; Debian's has makecontext.
#include <pcl.h>

#include <new>
#include <string_view>

#include "workloads/survey/fibers.hpp"

namespace heddle::lab::surveying {
namespace {

// A coroutine and the flow that calls it; other switches PCL has, too, but the survey needs none.
class pcl_context {
 public:
  static constexpr std::string_view name = "pcl";
  static std::size_t minimum_stack_bytes() { return 4096; }  // co_create() refuses less

  pcl_context() = default;
  pcl_context(coop::entry_function entry, void* argument, std::size_t stack_bytes)
      : entry_(entry), argument_(argument) {
    coroutine_ = co_create(&run, this, nullptr, static_cast<int>(stack_bytes));
    if (coroutine_ == nullptr) throw std::bad_alloc();
  }
  // Frees the stack of a suspended coroutine; what lives there is not destructed.
  ~pcl_context() {
    if (coroutine_ != nullptr) co_delete(coroutine_);
  }
  pcl_context(const pcl_context&) = delete;
  pcl_context& operator=(const pcl_context&) = delete;

  static void switch_to(pcl_context&, pcl_context& to) {
    if (to.coroutine_ != nullptr) {
      co_call(to.coroutine_);
    } else {
      co_resume();
    }
  }

 private:
  static void run(void* self) {
    auto& context = *static_cast<pcl_context*>(self);
    context.entry_(context.argument_);
    context.coroutine_ = nullptr;  // PCL deletes a coroutine whose function has returned
  }

  coop::entry_function entry_ = nullptr;
  void* argument_ = nullptr;
  coroutine_t coroutine_ = nullptr;
};

const model<problem> pcl{"pcl", &fibers<pcl_context>::run};

}  // namespace
}  // namespace heddle::lab::surveying

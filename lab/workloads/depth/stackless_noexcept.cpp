// "noexcept is added to the call chain".
#include "workloads/depth/chain.hpp"

namespace heddle::lab::depth {
namespace {

struct on_the_heap {};
using promised = call<on_the_heap, false>;

struct noexcept_chain {
  static promised sum(std::int64_t n) noexcept {
    if (n == 0) co_return 0;
    co_return n + co_await sum(n - 1);
  }
  static promised sum_waiting(std::int64_t n, std::coroutine_handle<>& innermost) noexcept {
    if (n == 0) {
      co_await wait_once{innermost};
      co_return 0;
    }
    co_return n + co_await sum_waiting(n - 1, innermost);
  }
};

const model<problem> registered{"stackless/noexcept", &run_chains<noexcept_chain>};

}  // namespace
}  // namespace heddle::lab::depth

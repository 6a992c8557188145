// A stack for the whole chain.
#include <cstddef>
#include <memory>
#include <vector>

#include "heddle/coop/context/asm_context.hpp"
#include "workloads/depth/workload.hpp"

namespace heddle::lab::depth {
namespace {

using coop::asm_context;

class chain {
 public:
  chain(problem& work, asm_context& driver, std::size_t stack_bytes)
      : work_(work), driver_(driver), body_(&main, this, stack_bytes) {}

  void resume() { asm_context::switch_to(driver_, body_); }

 private:
  static void main(void* argument) {
    auto& self = *static_cast<chain*>(argument);
    const std::int64_t n = self.work_.depth() - 1;
    if (self.work_.waits()) {
      const auto wait = [&self] { asm_context::switch_to(self.body_, self.driver_); };
      self.work_.take(sum_by_calls(n, wait));
    } else {
      self.work_.take(sum(n));
    }
  }

  problem& work_;
  asm_context& driver_;
  asm_context body_;
};

void waiting(problem& work, region& timed) {
  constexpr std::size_t stack_bytes = 64 * 1024;  // room for the deepest chain there is
  const std::int64_t chains = work.chains();
  asm_context driver;
  timed.begin();
  for (std::int64_t i = 0; i < chains; ++i) {
    chain each(work, driver, stack_bytes);
    each.resume();  // until it waits
    each.resume();
  }
  timed.end();
  work.makes_plain_calls();
  count().strand_switches += static_cast<std::uint64_t>(4 * chains);
}

void as_the_source(problem& work, region& timed) {
  constexpr std::size_t stack_bytes = 512 * 1024;
  const std::int64_t chains = work.chains(2000);
  asm_context driver;
  std::vector<std::unique_ptr<chain>> kept;  // so that each stack is new
  kept.reserve(static_cast<std::size_t>(chains));
  timed.begin();
  for (std::int64_t i = 0; i < chains; ++i) {
    kept.push_back(std::make_unique<chain>(work, driver, stack_bytes));
    kept.back()->resume();
  }
  timed.end();
  count().strand_switches += static_cast<std::uint64_t>(2 * chains);
}

void run(problem& work, region& timed) {
  work.waits() ? waiting(work, timed) : as_the_source(work, timed);
}

const model<problem> registered{"fiber/asm", &run};

}  // namespace
}  // namespace heddle::lab::depth

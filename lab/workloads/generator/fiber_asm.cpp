// The walk on a stack of its own, left by a switch.
#include "heddle/coop/context/asm_context.hpp"
#include "workloads/generator/workload.hpp"

namespace heddle::lab::generating {
namespace {

using coop::asm_context;

class walker {
 public:
  explicit walker(std::int64_t items) : items_(items) {}

  bool next() {
    asm_context::switch_to(loop_, walk_);
    return !done_;
  }
  std::int64_t item() const { return item_; }

 private:
  static constexpr std::size_t stack_bytes = 64 * 1024;

  static void main(void* argument) {
    auto& self = *static_cast<walker*>(argument);
    self.walk(1, self.items_);
    self.done_ = true;
  }

  void walk(std::int64_t first, std::int64_t last) {
    const std::int64_t node = middle(first, last);
    if (first < node) walk(first, node - 1);
    item_ = node;
    asm_context::switch_to(walk_, loop_);
    if (node < last) walk(node + 1, last);
  }

  std::int64_t items_;
  std::int64_t item_ = 0;
  bool done_ = false;
  asm_context loop_;
  asm_context walk_{&main, this, stack_bytes};
};

void run(problem& work, region&) {
  walker walk(work.items());
  while (walk.next()) work.take(walk.item());
}

const model<problem> fiber_asm{"fiber/asm", &run};

}  // namespace
}  // namespace heddle::lab::generating

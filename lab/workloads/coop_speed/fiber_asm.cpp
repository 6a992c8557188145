// The bare switch: no scheduler, each strand knows the next.
#include <memory>
#include <vector>

#include "harness/parameters.hpp"
#include "heddle/coop/context/asm_context.hpp"
#include "workloads/coop_speed/workload.hpp"

namespace heddle::lab::coop_speed {
namespace {

using coop::asm_context;

struct strand {
  problem* work;
  std::int64_t index;
  asm_context* next = nullptr;
  asm_context context{&main, this, coop::stack::safe_bytes};

  strand(problem& problem_of_all, std::int64_t position) : work(&problem_of_all), index(position) {}

  static void main(void* argument) {
    auto& self = *static_cast<strand*>(argument);
    problem& work = *self.work;
    asm_context& next = *self.next;
    const std::int64_t step = work.strands();
    const std::int64_t end = work.strands() * work.count();
    for (std::int64_t place = self.index; place < end; place += step) {
      work.take_turn(place);
      asm_context::switch_to(self.context, next);
    }
  }
};

void run(problem& work, region& timed) {
  if (work.row() != "yield") throw usage_error("fiber/asm has no scheduler: only --row=yield");
  std::vector<std::unique_ptr<strand>> strands;
  for (std::int64_t i = 0; i < work.strands(); ++i) {
    strands.push_back(std::make_unique<strand>(work, i));
    if (i > 0) strands[static_cast<std::size_t>(i) - 1]->next = &strands.back()->context;
  }
  strands.back()->next = &strands.front()->context;
  asm_context main;
  timed.begin();
  asm_context::switch_to(main, strands.front()->context);
  timed.end();
}  // unwinds those that have not returned

const model<problem> registered{"fiber/asm", &run};

}  // namespace
}  // namespace heddle::lab::coop_speed

#include "workloads/philosophers/workload.hpp"

namespace heddle::lab::philosophers {
namespace {

void run(problem& work, region&) {
  for (int who = 0; who < work.philosophers(); ++who) {
    for (std::int64_t meal = 0; meal < work.meals(); ++meal) {
      work.think(who, no_checkpoint);
      work.eat(who, no_checkpoint, [] {});
    }
    work.leave();
  }
}

const model<problem> serial{"serial", &run};

}  // namespace
}  // namespace heddle::lab::philosophers

#include "workloads/philosophers/by_variables.hpp"

namespace heddle::lab::philosophers {
namespace {

void run(problem& work, region&) { run_with<by_wait_for>(work); }

const model<problem> cooperative_asm{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::philosophers

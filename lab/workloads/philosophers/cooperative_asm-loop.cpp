#include "workloads/philosophers/by_variables.hpp"

namespace heddle::lab::philosophers {
namespace {

void run(problem& work, region&) { run_with<by_yield_loop>(work); }

const model<problem> cooperative_asm_loop{"cooperative/asm-loop", &run};

}  // namespace
}  // namespace heddle::lab::philosophers

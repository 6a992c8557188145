#include "workloads/buffer/by_variables.hpp"

namespace heddle::lab::buffer {
namespace {

void run(problem& work, region&) { run_with<by_yield_loop>(work); }

const model<problem> cooperative_asm_loop{"cooperative/asm-loop", &run};

}  // namespace
}  // namespace heddle::lab::buffer

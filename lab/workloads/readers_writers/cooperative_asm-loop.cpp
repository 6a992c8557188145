#include "workloads/readers_writers/by_variables.hpp"

namespace heddle::lab::readers_writers {
namespace {

void run(problem& work, region&) { run_with<by_yield_loop>(work); }

const model<problem> cooperative_asm_loop{"cooperative/asm-loop", &run};

}  // namespace
}  // namespace heddle::lab::readers_writers

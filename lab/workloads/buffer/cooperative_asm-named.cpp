#include "workloads/buffer/by_variables.hpp"

namespace heddle::lab::buffer {
namespace {

void run(problem& work, region&) { run_with<by_named_yield>(work); }

const model<problem> cooperative_asm_named{"cooperative/asm-named", &run};

}  // namespace
}  // namespace heddle::lab::buffer

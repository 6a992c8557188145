#include "workloads/buffer/by_variables.hpp"

namespace heddle::lab::buffer {
namespace {

void run(problem& work, region&) { run_with<by_wait_until>(work); }

const model<problem> cooperative_asm_watched{"cooperative/asm-watched", &run};

}  // namespace
}  // namespace heddle::lab::buffer

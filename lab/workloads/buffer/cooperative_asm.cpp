#include "workloads/buffer/by_variables.hpp"

namespace heddle::lab::buffer {
namespace {

void run(problem& work, region&) { run_with<by_wait_for>(work); }

const model<problem> cooperative_asm{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::buffer

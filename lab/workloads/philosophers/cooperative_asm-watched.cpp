#include "workloads/philosophers/by_variables.hpp"

namespace heddle::lab::philosophers {
namespace {

void run(problem& work, region&) { run_with<by_wait_until>(work); }

const model<problem> cooperative_asm_watched{"cooperative/asm-watched", &run};

}  // namespace
}  // namespace heddle::lab::philosophers

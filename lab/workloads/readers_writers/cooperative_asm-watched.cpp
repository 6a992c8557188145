#include "workloads/readers_writers/by_variables.hpp"

namespace heddle::lab::readers_writers {
namespace {

void run(problem& work, region&) { run_with<by_wait_until>(work); }

const model<problem> cooperative_asm_watched{"cooperative/asm-watched", &run};

}  // namespace
}  // namespace heddle::lab::readers_writers

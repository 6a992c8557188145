#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/file/positioned_file.hpp"
#include "workloads/file/workload.hpp"

namespace heddle::lab::file {
namespace {

using namespace coop;

// The same program as cooperative/asm.
task<> client(problem& work, const positioned_file& data, int strand) {
  outcome seen;
  const std::vector<operation>& operations = work.operations();
  const auto step = static_cast<std::size_t>(work.threads());
  for (auto k = static_cast<std::size_t>(strand); k < operations.size(); k += step) {
    work.perform_on(data, operations[k], strand, seen);
    co_await yield();
  }
  work.outcome_of(strand) = seen;
}

void run(problem& work, region&) {
  const positioned_file data(work.data.fd());
  scheduler s;
  for (int strand = 0; strand < work.threads(); ++strand) s.spawn(client(work, data, strand));
  s.run();
  count().strand_switches += work.operations().size();
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::file

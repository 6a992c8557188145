#include "heddle/coop/generator.hpp"
#include "workloads/file/workload.hpp"

namespace heddle::lab::file {
namespace {

// "Each operation is treated as a separate co-routine. As the execution is linear no need of
// locking mechanism" (3.2.3), "it relies on coroutine primitives co_await and co_yield" (5): made
// suspended; suspended again by co_yield with what it has seen, while the driver notes that; and
// resumed to its end.
coop::generator<outcome> perform(problem& work, const operation& wanted, int strand) {
  outcome seen = work.outcome_of(strand);
  work.perform(wanted, strand, seen);
  co_yield seen;
}

void run(problem& work, region&) {
  const std::vector<operation>& operations = work.operations();
  for (std::size_t k = 0; k < operations.size(); ++k) {
    const int strand = work.strand_of(k);
    for (const outcome& seen : perform(work, operations[k], strand)) work.outcome_of(strand) = seen;
  }
  // To each coroutine and back, twice.
  count().strand_switches += 4 * operations.size();
}

const model<problem> stackless{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::file

#include "workloads/file/positioned_file.hpp"
#include "workloads/file/workload.hpp"

namespace heddle::lab::file {
namespace {

void run(problem& work, region&) {
  const positioned_file data(work.data.fd());
  const std::vector<operation>& operations = work.operations();
  for (std::size_t k = 0; k < operations.size(); ++k) {
    const int strand = work.strand_of(k);
    work.perform_on(data, operations[k], strand, work.outcome_of(strand));
  }
}

const model<problem> serial{"serial", &run};

}  // namespace
}  // namespace heddle::lab::file

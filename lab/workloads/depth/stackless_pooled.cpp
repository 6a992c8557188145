// Our own task: frames that the chain before has left are used again.
#include "heddle/coop/task.hpp"
#include "workloads/depth/chain.hpp"

namespace heddle::lab::depth {
namespace {

const model<problem> registered{"stackless/pooled", &run_chains<chain<coop::task<std::int64_t>>>};

}  // namespace
}  // namespace heddle::lab::depth

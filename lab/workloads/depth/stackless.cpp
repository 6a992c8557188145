#include "heddle/coop/task.hpp"
#include "workloads/depth/chain.hpp"

namespace heddle::lab::depth {
namespace {

struct on_the_heap {};

const model<problem> models[] = {
    // Coroutines like async_simple's: frames from operator new, exceptions handed on.
    {"stackless", &run_chains<chain<call<on_the_heap, true>>>},
    // Our own task: frames that the chain before has left are used again.
    {"stackless/pooled", &run_chains<chain<coop::task<std::int64_t>>>},
};

}  // namespace
}  // namespace heddle::lab::depth

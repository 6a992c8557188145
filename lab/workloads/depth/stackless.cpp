// Coroutines like async_simple's: frames from operator new, exceptions handed on.
#include "workloads/depth/chain.hpp"

namespace heddle::lab::depth {
namespace {

struct on_the_heap {};

const model<problem> registered{"stackless", &run_chains<chain<call<on_the_heap, true>>>};

}  // namespace
}  // namespace heddle::lab::depth

// Stackful outside; a coroutine at the leaf, where it waits.
#include "heddle/coop/hybrid.hpp"

#include "workloads/io/fibers.hpp"

namespace heddle::lab::io {
namespace {

[[gnu::noinline]] void read_in_fiber(reading& r) { coop::await(read_in_task(r)); }

const model<problem> registered{"hybrid", &run_fibers<&read_in_fiber>};

}  // namespace
}  // namespace heddle::lab::io

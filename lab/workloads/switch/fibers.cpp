#include "workloads/switch/fibers.hpp"

namespace heddle::lab::switching {
namespace {

const fiber_models<problem, fibers> registered;

}  // namespace
}  // namespace heddle::lab::switching

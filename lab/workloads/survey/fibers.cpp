#include "workloads/survey/fibers.hpp"

#include "harness/fiber_models.hpp"

namespace heddle::lab::surveying {
namespace {

const fiber_models<problem, fibers> registered;

}  // namespace
}  // namespace heddle::lab::surveying

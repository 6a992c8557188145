#include "stack_pool.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

#include "heddle/coop/context/context.hpp"

namespace heddle::coop::detail {
namespace {

constexpr std::size_t largest_slab = std::size_t{64} << 20;

[[noreturn]] void no_guard(int error, guard_method method) {
  throw std::system_error(
      error, std::generic_category(),
      method == guard_method::protect
          ? "no room for another guarded stack: before Linux 6.13 each takes two mappings, of "
            "which a process may have `sysctl vm.max_map_count`. Raise that, use fewer stacks, or "
            "stacks without a guard (stack_guard::none)"
          : "no memory for the guard of another stack");
}

}  // namespace

stack_pool& stack_pool::process() {
  static stack_pool& pool = *new stack_pool(guard_method::install);
  return pool;
}

std::size_t stack_pool::rounded(std::size_t bytes) {
  require_stack_bytes(bytes, stack::minimum_bytes, "such");
  if (bytes > stack::maximum_bytes) {
    throw std::invalid_argument("a stack of " + std::to_string(bytes) +
                                " bytes is too large: the largest has " +
                                std::to_string(stack::maximum_bytes));
  }
  return std::bit_ceil(bytes);
}

stack_pool::piece stack_pool::take(std::size_t bytes, stack_guard guard) {
  const stack_shape shape = stack_shape::of(rounded(bytes), guard);
  const auto index = static_cast<std::size_t>(std::countr_zero(shape.stack_bytes) -
                                              std::countr_zero(stack::minimum_bytes));

  const std::lock_guard lock(mutex_);
  size_class& sizes = classes_.at(index)[guard == stack_guard::none ? 1 : 0];
  if (sizes.slabs.empty() || sizes.slabs.front().slab.full()) {
    const std::size_t most = std::max(largest_slab / shape.slot_bytes, std::size_t{1});
    sizes.slabs.emplace_front(*this, sizes, shape, std::min(sizes.next_slots, most));
    sizes.slabs.front().self = sizes.slabs.begin();
    sizes.next_slots = std::min(2 * sizes.next_slots, most);
    ++sizes.unused_slabs;
  }
  pooled_slab& from = sizes.slabs.front();
  const bool was_unused = from.slab.unused();
  stack_slab::piece taken = from.slab.take(method_);
  if (taken.bottom == nullptr && method_ == guard_method::install && errno == EINVAL) {
    method_ = guard_method::protect;  // this kernel does not know the other one
    taken = from.slab.take(method_);
  }
  if (taken.bottom == nullptr) no_guard(errno, method_);
  if (was_unused) --sizes.unused_slabs;
  if (from.slab.full()) sizes.slabs.splice(sizes.slabs.end(), sizes.slabs, from.self);
  return {taken.bottom, taken.top, &from};
}

void stack_pool::give_back(pooled_slab& slab, std::byte* bottom) noexcept {
  slab.pool.give_back(slab.sizes, slab, bottom);
}

void stack_pool::give_back(size_class& sizes, pooled_slab& slab, std::byte* bottom) noexcept {
  const std::lock_guard lock(mutex_);
  slab.slab.give_back(bottom);
  if (slab.slab.unused() && sizes.unused_slabs != 0) {
    sizes.slabs.erase(slab.self);
    return;
  }
  if (slab.slab.unused()) ++sizes.unused_slabs;
  sizes.slabs.splice(sizes.slabs.begin(), sizes.slabs, slab.self);
}

std::size_t stack_pool::mapped_bytes() {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& guarded_or_not : classes_) {
    for (const size_class& sizes : guarded_or_not) {
      for (const pooled_slab& each : sizes.slabs) bytes += each.slab.bytes();
    }
  }
  return bytes;
}

}  // namespace heddle::coop::detail

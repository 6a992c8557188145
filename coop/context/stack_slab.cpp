#include "stack_slab.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "heddle/coop/ext/sanitizer.hpp"
#include "slab_registry.hpp"

extern "C" {
// AddressSanitizer's functions, which are there in a program that is built with it. The
// declarations are those of sanitizer/asan_interface.h, which other compilers have not got.
[[gnu::weak]] void __asan_poison_memory_region(void const volatile* address, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(void const volatile* address, std::size_t bytes);
}

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102  // Linux 6.13
#endif

namespace heddle::coop::detail {
namespace {

// 1 KB: more colours do not make switching faster, and leave fewer stacks that get by with a page.
constexpr std::size_t colours = 16;

// Bytes below its top that a free stack keeps committed. Guards survive the dropping of pages.
constexpr std::size_t kept_bytes = 64 * 1024;

bool make_guard(std::byte* page, std::size_t bytes, guard_method method) noexcept {
  return method == guard_method::install ? madvise(page, bytes, MADV_GUARD_INSTALL) == 0
                                         : mprotect(page, bytes, PROT_NONE) == 0;
}

// A free stack is poisoned, so that AddressSanitizer sees a use of a frame after the end of its
// context. The marks of the frames that were left for good go with it.
void mark(const stack_slab::piece& stack, bool usable) noexcept {
  if (!has_address_sanitizer()) return;
  const auto bytes = static_cast<std::size_t>(stack.top - stack.bottom);
  if (usable) {
    __asan_unpoison_memory_region(stack.bottom, bytes);
  } else {
    __asan_poison_memory_region(stack.bottom, bytes);
  }
}

}  // namespace

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

stack_shape stack_shape::of(std::size_t stack_bytes, stack_guard guard) noexcept {
  if (guard == stack_guard::none) {
    // An odd number of lines apart, successive tops are in different cache sets by themselves.
    static_assert(stack::header_bytes / stack_slab::line_bytes % 2 == 1);
    return {stack_bytes, 0, 0, stack_bytes + stack::header_bytes};
  }
  const std::size_t page = page_bytes();
  const std::size_t colour_bytes = (colours - 1) * stack_slab::line_bytes;
  const std::size_t usable =
      (stack_bytes + stack::header_bytes + colour_bytes + page - 1) / page * page;
  return {stack_bytes, page, colour_bytes, page + usable};
}

stack_slab::stack_slab(const stack_shape& shape, std::size_t slots) : shape_(shape), slots_(slots) {
  free_.reserve(slots);
  const std::size_t bytes = shape.slot_bytes * slots;
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(),
                            "no address space for another slab of stacks (see `ulimit -v` and "
                            "`sysctl vm.overcommit_memory`; or use smaller or fewer stacks)");
  }
  // A huge page would commit the whole of many stacks at the first touch of one.
  madvise(mapped, bytes, MADV_NOHUGEPAGE);
  base_ = static_cast<std::byte*>(mapped);
  slab_registry::add(base_, bytes, shape);
}

stack_slab::~stack_slab() {
  slab_registry::remove(base_);
  if (has_address_sanitizer()) {  // for the next mapping there
    __asan_unpoison_memory_region(base_, shape_.slot_bytes * slots_);
  }
  munmap(base_, shape_.slot_bytes * slots_);
}

stack_slab::piece stack_slab::piece_of(std::size_t slot) const noexcept {
  std::byte* const begin = base_ + slot * shape_.slot_bytes;
  const std::size_t colour =
      shape_.colour_bytes == 0 ? 0 : slot % (shape_.colour_bytes / line_bytes + 1) * line_bytes;
  return {begin + shape_.guard_bytes, begin + shape_.slot_bytes - colour};
}

stack_slab::piece stack_slab::take(guard_method method) noexcept {
  std::size_t slot = fresh_;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else {
    std::byte* const guard = base_ + slot * shape_.slot_bytes;
    if (shape_.guard_bytes != 0 && !make_guard(guard, shape_.guard_bytes, method)) return {};
    ++fresh_;
  }
  ++used_;
  const piece taken = piece_of(slot);
  mark(taken, true);
  return taken;
}

void stack_slab::give_back(std::byte* bottom) noexcept {
  const auto slot = static_cast<std::size_t>(bottom - base_) / shape_.slot_bytes;
  const piece stack = piece_of(slot);
  if (shape_.guard_bytes != 0 && shape_.stack_bytes > kept_bytes) {
    madvise(bottom,
            static_cast<std::size_t>(stack.top - bottom) / page_bytes() * page_bytes() - kept_bytes,
            MADV_DONTNEED);
  }
  mark(stack, false);
  free_.push_back(static_cast<std::uint32_t>(slot));
  --used_;
}

}  // namespace heddle::coop::detail

#include "slab_registry.hpp"

#include <atomic>
#include <mutex>

namespace heddle::coop::detail {
namespace {

// Entries are linked once and never freed, so that a handler may walk them at any moment; that of a
// slab which is gone has a null base, and is used again.
struct entry {
  std::atomic<std::byte*> base;
  std::atomic<std::size_t> bytes;
  std::atomic<std::size_t> slot_bytes;
  std::atomic<std::size_t> guard_bytes;
  std::atomic<std::size_t> stack_bytes;
  entry* next;
};

constinit std::atomic<entry*> entries{nullptr};
constinit std::mutex writing;

entry* find_entry(const std::byte* base) noexcept {
  entry* each = entries.load(std::memory_order_acquire);
  while (each != nullptr && each->base.load(std::memory_order_relaxed) != base) each = each->next;
  return each;
}

}  // namespace

void slab_registry::add(std::byte* base, std::size_t bytes, const stack_shape& shape) {
  const std::lock_guard lock(writing);
  entry* const gone = find_entry(nullptr);
  entry* const used = gone != nullptr ? gone : new entry{};
  used->bytes.store(bytes, std::memory_order_relaxed);
  used->slot_bytes.store(shape.slot_bytes, std::memory_order_relaxed);
  used->guard_bytes.store(shape.guard_bytes, std::memory_order_relaxed);
  used->stack_bytes.store(shape.stack_bytes, std::memory_order_relaxed);
  // Release: a thread that sees the base, or the entry, sees its sizes.
  used->base.store(base, std::memory_order_release);
  if (used == gone) return;
  used->next = entries.load(std::memory_order_relaxed);
  entries.store(used, std::memory_order_release);
}

void slab_registry::remove(const std::byte* base) noexcept {
  const std::lock_guard lock(writing);
  if (entry* const found = find_entry(base)) found->base.store(nullptr, std::memory_order_relaxed);
}

slab_registry::slot slab_registry::find(const void* address) noexcept {
  const auto* const at = static_cast<const std::byte*>(address);
  for (entry* each = entries.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    const std::byte* const base = each->base.load(std::memory_order_acquire);
    if (base == nullptr || at < base) continue;
    const auto offset = static_cast<std::size_t>(at - base);
    if (offset >= each->bytes.load(std::memory_order_relaxed)) continue;
    const std::size_t slot_bytes = each->slot_bytes.load(std::memory_order_relaxed);
    const std::byte* const begin = base + offset / slot_bytes * slot_bytes;
    return {begin, begin + slot_bytes, each->guard_bytes.load(std::memory_order_relaxed),
            each->stack_bytes.load(std::memory_order_relaxed)};
  }
  return {};
}

}  // namespace heddle::coop::detail

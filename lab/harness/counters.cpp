#include "harness/counters.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace heddle::lab {
namespace {

// A thread's counters outlive it: they are linked into a list that only grows. One line each.
struct alignas(64) node {
  counters values;
  node* next = nullptr;
};

constinit std::atomic<node*> all{nullptr};

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++count().allocations;
  if (bytes == 0) bytes = 1;
  for (;;) {
    void* memory = alignment == 0 ? std::malloc(bytes)
                                  : std::aligned_alloc(
                                        alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory != nullptr) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

counters& counters::operator+=(const counters& other) noexcept {
  strand_switches += other.strand_switches;
  p_operations += other.p_operations;
  blocked_p_operations += other.blocked_p_operations;
  allocations += other.allocations;
  return *this;
}

counters& counters::operator-=(const counters& other) noexcept {
  strand_switches -= other.strand_switches;
  p_operations -= other.p_operations;
  blocked_p_operations -= other.blocked_p_operations;
  allocations -= other.allocations;
  return *this;
}

counters* detail::register_this_thread() noexcept {
  // Not operator new, which counts.
  void* memory = std::aligned_alloc(alignof(node), sizeof(node));
  if (memory == nullptr) std::abort();
  node* mine = new (memory) node();
  mine->next = all.load(std::memory_order_relaxed);
  while (!all.compare_exchange_weak(mine->next, mine, std::memory_order_release,
                                    std::memory_order_relaxed)) {
  }
  return &mine->values;
}

counters counted_so_far() noexcept {
  counters sum;
  for (const node* each = all.load(std::memory_order_acquire); each != nullptr; each = each->next) {
    sum += each->values;
  }
  return sum;
}

}  // namespace heddle::lab

// The array forms too: a sanitizer has its own, which do not call ours. The nothrow forms are not
// counted then; nothing here uses them.
void* operator new(std::size_t bytes) { return heddle::lab::allocate(bytes, 0); }
void* operator new[](std::size_t bytes) { return heddle::lab::allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return heddle::lab::allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return heddle::lab::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

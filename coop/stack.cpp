#include "heddle/coop/stack.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "heddle/coop/context.hpp"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102  // Linux 6.13
#endif

namespace heddle::coop {
namespace {

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// A guard that is part of the mapping lets the kernel merge neighbouring stacks into one mapping;
// mprotect splits them, two mappings a stack, of which a process has 65530 by default.
bool install_guard(void* page) noexcept {
  return madvise(page, page_bytes(), MADV_GUARD_INSTALL) == 0 ||
         mprotect(page, page_bytes(), PROT_NONE) == 0;
}

[[noreturn]] void no_room(int error) {
  throw std::system_error(error, std::generic_category(),
                          "no room for another stack (too many mappings? see "
                          "`sysctl vm.max_map_count`; or use smaller or fewer stacks)");
}

// 16 cache lines: 1 KB at most, which is allocated on top of what was asked for.
constexpr std::size_t line_bytes = 64;
constexpr std::size_t colours = 16;

std::size_t next_colour() noexcept {
  static std::atomic<std::size_t> count{0};
  return count.fetch_add(1, std::memory_order_relaxed) % colours;
}

}  // namespace

stack::stack(std::size_t bytes) {
  detail::require_stack_bytes(bytes, minimum_bytes, "asm and ucontext");
  const std::size_t colour_bytes = next_colour() * line_bytes;
  const std::size_t page = page_bytes();
  const std::size_t usable = (bytes + colour_bytes + page - 1) / page * page;
  const std::size_t mapped = usable + page;
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (base == MAP_FAILED) no_room(errno);
  if (!install_guard(base)) {
    const int error = errno;
    munmap(base, mapped);
    no_room(error);
  }
  bottom_ = static_cast<std::byte*>(base) + page;
  top_ = bottom_ + usable - colour_bytes;
  mapped_ = mapped;
}

stack::~stack() {
  if (bottom_ != nullptr) munmap(bottom_ - page_bytes(), mapped_);
}

}  // namespace heddle::coop

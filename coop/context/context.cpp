#include "heddle/coop/context/context.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "heddle/coop/ext/sanitizer.hpp"
#include "slab_registry.hpp"

#if defined(HEDDLE_TSAN)
extern const char heddle_coop_must_be_built_with_fsanitize_thread = 0;
#endif

namespace heddle::coop::detail {

namespace {

// Throwing an exception uses 1.9 KB of stack below the frame that throws, with glibc 2.36 and GCC
// 12.
constexpr std::ptrdiff_t unwinding_bytes = 2 * 1024;

// Not by stdio, which takes 8 KB of the stack for an unbuffered stream.
void print(std::string_view a, std::string_view b, std::string_view c) noexcept {
  iovec parts[3];
  int count = 0;
  for (const std::string_view part : {a, b, c}) {
    parts[count++] = {const_cast<char*>(part.data()), part.size()};
  }
  // Nothing can be done about a closed standard error.
  [[maybe_unused]] const ssize_t written = writev(STDERR_FILENO, parts, count);
}

}  // namespace

void throw_forced_unwind() {
  const auto* const frame = static_cast<const std::byte*>(__builtin_frame_address(0));
  const slab_registry::slot slot = slab_registry::find(frame);
  if (slot.begin != nullptr && frame - (slot.begin + slot.guard_bytes) < unwinding_bytes) {
    fatal(
        "a suspended context is destroyed, and its stack has no room left to unwind it, which "
        "takes 2 KB: give it a larger stack, or let it end by itself");
  }
  throw forced_unwind{};
}

void bind_unwinder() noexcept {
  print("", "", "");  // what fatal() calls, likewise
  try {
    throw forced_unwind{};
  } catch (const forced_unwind&) {
  }
}

void fatal(const char* message) noexcept {
  print("error: heddle: ", message, "\n");
  std::abort();
}

void require_stack_bytes(std::size_t bytes, std::size_t minimum, std::string_view backend) {
  if (bytes >= minimum) return;
  throw std::invalid_argument("a stack of " + std::to_string(bytes) +
                              " bytes is too small: " + std::string(backend) +
                              " contexts need at least " + std::to_string(minimum) + " bytes");
}

}  // namespace heddle::coop::detail

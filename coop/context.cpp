#include "heddle/coop/context.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace heddle::coop::detail {

void throw_forced_unwind() { throw forced_unwind{}; }

void fatal(const char* message) noexcept {
  std::fprintf(stderr, "error: heddle: %s\n", message);
  std::abort();
}

void require_stack_bytes(std::size_t bytes, std::size_t minimum, std::string_view backend) {
  if (bytes >= minimum) return;
  throw std::invalid_argument("a stack of " + std::to_string(bytes) +
                              " bytes is too small: " + std::string(backend) +
                              " contexts need at least " + std::to_string(minimum) + " bytes");
}

}  // namespace heddle::coop::detail

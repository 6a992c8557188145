#include "early.hpp"

namespace heddle::trace {

constinit EarlyCalls early{};

}  // namespace heddle::trace

void heddle_record_early(std::uint64_t function, std::uint64_t call_site,
                         std::uint64_t stack_pointer, std::uint64_t kind) {
  using namespace heddle::trace;
  const std::uint64_t number = early.count++;
  if (number < EarlyCalls::kMost) {
    early.calls[number] = {function, call_site, stack_pointer, kind};
  }
}

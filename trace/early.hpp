// Calls from before the loader has filled thread-local memory: those of the resolvers of IFUNCs
// (STT_GNU_IFUNC), which it calls while it relocates the program and its libraries.
#pragma once

#include "run.hpp"

extern "C" {

/// Keeps an event until the recorder can record. The hooks call it, perhaps before this library is
/// relocated, so it uses nothing that needs to be: no call, no address in memory.
[[gnu::visibility("hidden")]] void heddle_record_early(std::uint64_t function,
                                                       std::uint64_t call_site,
                                                       std::uint64_t stack_pointer,
                                                       std::uint64_t kind);
}

namespace heddle::trace {

struct EarlyCalls {
  static constexpr std::uint64_t kMost = 4096;

  std::uint64_t count;  ///< those beyond kMost are only counted
  Call calls[kMost];    ///< kTail is among their kinds
};

/// The program has one thread then.
[[gnu::visibility("hidden")]] extern EarlyCalls early;

}  // namespace heddle::trace

#pragma once

#include <memory>

#include "heddle/coop/ext/engine.hpp"
#include "operation_queue.hpp"

namespace heddle::coop::io::detail {

/// Looks host names up by getaddrinfo(3), which blocks, on threads of its own: as many as there are
/// lookups at once, some at most, each for as long as there is work.
///
/// A lookup cannot be interrupted: one that no strand waits for any more, even one whose resolver
/// is gone, runs to its end, and uses no memory but its own.
class resolver {
 public:
  resolver() noexcept;
  ~resolver();
  resolver(const resolver&) = delete;
  resolver& operator=(const resolver&) = delete;

  /// Begins to look up `wanted.connect->host`; `to_wake` is interrupted when that is over. Returns
  /// false if there is no thread to be had.
  [[nodiscard]] bool start(operation& wanted, engine& to_wake) noexcept;
  /// Returns whether it was being looked up; the resolver does not know it any more.
  bool cancel(operation& unwanted) noexcept;
  /// The next one whose lookup is over; null if there is none. Its addresses are there, or `error`
  /// and the reason, appended to its name, are.
  operation* next_over() noexcept;

 private:
  struct shared;
  std::shared_ptr<shared> shared_;  // with the threads; null until the first lookup
};

}  // namespace heddle::coop::io::detail

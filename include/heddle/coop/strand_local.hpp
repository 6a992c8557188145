#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "heddle/coop/detail/strand_attachments.hpp"

namespace heddle::coop {

/// A variable of which each strand has its own, as each thread has its own of a `thread_local` one:
/// made for a strand at the strand's first use of it, as a copy of `initial`, and destroyed when
/// the strand ends. Children do not inherit it; see strand_context for what they do.
///
///     strand_local<int> depth(0);
///     ++*depth;
///
/// A use outside of strands ends the program with a message. Costs a look through the few that the
/// strand uses. Its destructor leaves the strands' values where they are.
template <class T>
class strand_local {
 public:
  explicit strand_local(T initial = T()) : initial_(std::move(initial)) {}
  strand_local(const strand_local&) = delete;
  strand_local& operator=(const strand_local&) = delete;

  /// The running strand's. It stays where it is until the strand ends.
  [[nodiscard]] T& operator*() const {
    if (void* const found = detail::find_local(number_)) return *static_cast<T*>(found);
    auto made = std::make_unique<T>(initial_);
    T& value = *made;
    detail::add_local(
        {number_, made.get(), [](void* own) noexcept { delete static_cast<T*>(own); }});
    static_cast<void>(made.release());
    return value;
  }
  [[nodiscard]] T* operator->() const { return &**this; }

 private:
  const std::uint64_t number_ = detail::next_local_number();
  const T initial_;
};

}  // namespace heddle::coop

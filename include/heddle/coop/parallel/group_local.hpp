#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "heddle/coop/ext/spin.hpp"

// Whether each use of a group_local is checked: in debugging builds, unless it is said. The same in
// all files of a program: if not, it does not link.
#if !defined(HEDDLE_GROUP_CHECKS)
#if defined(NDEBUG)
#define HEDDLE_GROUP_CHECKS 0
#else
#define HEDDLE_GROUP_CHECKS 1
#endif
#endif

namespace heddle::coop::parallel {

class group;

namespace detail {

/// To which group something belongs: that of the first strand that touches it.
class group_owner {
 public:
  explicit group_owner(std::string name) : name_(std::move(name)) {}
  /// The running strand touches it; ends the program with a message if it is of another group.
  /// Nothing outside of groups' strands: before and after they run.
  void touch();

 private:
  std::string name_;
  std::atomic<group*> owner_{nullptr};
  spin_lock lock_;  // of what follows, so that the message itself is no race
  std::uint64_t last_id_ = 0;
  std::string last_name_;
};

}  // namespace detail

#if HEDDLE_GROUP_CHECKS
inline namespace group_checks {

template <class T>
class group_local {
 public:
  explicit group_local(T value = {}, std::string name = {})
      : owner_(std::move(name)), value_(std::move(value)) {}
  T& get() {
    owner_.touch();
    return value_;
  }
  T& operator*() { return get(); }
  T* operator->() { return &get(); }

 private:
  detail::group_owner owner_;
  T value_;
};

}  // namespace group_checks
#else
inline namespace no_group_checks {

/// A variable that only strands of one group may touch: a plain T, without synchronisation.
///
///     parallel::group_local<int> eaten(0, "eaten");
///     g[0].spawn([&] { ++*eaten; });
///     g[1].spawn([&] { ++*eaten; });     // with checks: the program ends, and says who it was
///
/// With HEDDLE_GROUP_CHECKS (by default where NDEBUG is not defined) each use is checked: the first
/// strand that touches it decides to which group it belongs, and a strand of another one ends the
/// program with the names of both. It may be set up and read by others before and after groups run.
template <class T>
class group_local {
 public:
  /// `name` is for that message.
  explicit group_local(T value = {}, const std::string& name = {}) : value_(std::move(value)) {
    static_cast<void>(name);
  }
  T& get() noexcept { return value_; }
  T& operator*() noexcept { return value_; }
  T* operator->() noexcept { return &value_; }

 private:
  T value_;
};

}  // namespace no_group_checks
#endif

}  // namespace heddle::coop::parallel

#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace heddle::coop {

/// Thrown by a call or a send over a link that is closed, or is closed before the reply comes;
/// what() names the link, and says why where it was not one of its ends: that the other process is
/// gone, or that what it sent makes no sense.
class link_closed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown by a call whose handler threw; what() is what its exception said. The exception itself
/// stays where it was thrown, which may be another process.
class handler_failed : public std::runtime_error {
 public:
  handler_failed(const std::string& what, std::string type)
      : std::runtime_error(what), type_(std::move(type)) {}

  /// The type of what the handler threw, as C++ writes it: "std::out_of_range".
  /// "heddle::coop::cancelled" if its strand was cancelled.
  [[nodiscard]] const std::string& type() const noexcept { return type_; }

 private:
  std::string type_;
};

}  // namespace heddle::coop

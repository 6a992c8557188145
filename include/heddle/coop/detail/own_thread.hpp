#pragma once

#include <pthread.h>
#include <sys/types.h>

namespace heddle::coop::detail {

/// The thread that a scheduler belongs to: the one that makes it.
class own_thread {
 public:
  own_thread() noexcept;
  [[nodiscard]] bool runs() const noexcept { return pthread_equal(self_, pthread_self()) != 0; }
  /// The kernel's number of it, as in /proc and debuggers.
  [[nodiscard]] pid_t number() const noexcept { return number_; }

 private:
  pthread_t self_;
  pid_t number_;
};

}  // namespace heddle::coop::detail

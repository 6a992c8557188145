// What a child's environment must hold for the child to be recorded. A program that gives its child
// an environment of the child's own (execve, posix_spawn, `env -i`) leaves out our variables.
#pragma once

#include <cstddef>

namespace heddle::trace {

/// The value of the variable that comes first by this name; null if there is none.
[[nodiscard]] const char* value_of(char* const* environment, const char* name_and_equals);

/// Keeps our variables as the program got them, before it can change them. To be called when the
/// library is loaded.
void keep_environment();

/// Takes our variables out of the program's environment, and so of its children's. To be called
/// when the library is loaded, if the program has other rights than who started it.
void forget_environment();

/// An environment with our variables in front of its own. Made in memory of the caller, as a child
/// of vfork may neither allocate nor free: what malloc or mmap gives it stays in its parent.
class Mended {
 public:
  /// Plans it. No lock, no change of errno.
  explicit Mended(char* const* environment);

  /// Whether there is anything to do. Not where the environment has HEDDLE_DIR, as one that is
  /// inherited; not where heddle record does not record, or our library or its trace is out of
  /// reach (chroot); and not for an environment beyond kMost bytes, as the stack may be small.
  [[nodiscard]] bool needed() const { return needed_; }

  /// Bytes of memory that write() takes.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Writes it into `memory`, aligned as a pointer; valid as long as that and the old one are.
  [[nodiscard]] char* const* write(void* memory) const;

 private:
  static constexpr std::size_t kMost = 16384;

  char* const* old_;
  std::size_t entries_ = 0;  ///< of the old one
  std::size_t bytes_ = 0;
  bool needed_ = false;
};

}  // namespace heddle::trace

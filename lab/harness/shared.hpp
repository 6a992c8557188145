#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "harness/throw_errno.hpp"

namespace heddle::lab {

/// A value that the processes forked from this one share with it, and others that map its
/// descriptor. Its members are atomics, or do not change after the fork.
template <class T>
class shared {
 public:
  /// Throws std::system_error.
  shared() : fd_(memfd_create("shared", MFD_CLOEXEC)) {
    if (fd_ < 0) fail();
    void* const memory = ftruncate(fd_, sizeof(T)) != 0
                             ? MAP_FAILED
                             : mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (memory == MAP_FAILED) {
      close(fd_);
      fail();
    }
    value_ = new (memory) T();
  }
  ~shared() {
    value_->~T();
    munmap(value_, sizeof(T));
    close(fd_);
  }
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;

  [[nodiscard]] T& operator*() const { return *value_; }
  [[nodiscard]] T* operator->() const { return value_; }
  /// The descriptor of the memory, which begins with the value. Other programs don't inherit it,
  /// unless its close-on-exec flag is cleared.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  [[noreturn]] static void fail() { throw_errno("no memory to be shared"); }

  int fd_;
  T* value_;
};

}  // namespace heddle::lab

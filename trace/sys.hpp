// The system calls that the recorder uses, by their own names. Results are the kernel's: negated
// error numbers.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "arch/x86_64.hpp"

namespace heddle::trace::sys {

inline long open(const char* path, int flags, unsigned mode = 0) {
  return arch::syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}
inline long close(long fd) { return arch::syscall(SYS_close, fd); }
inline long read(long fd, void* to, std::size_t bytes) {
  return arch::syscall(SYS_read, fd, to, bytes);
}
inline long write(long fd, const void* from, std::size_t bytes) {
  return arch::syscall(SYS_write, fd, from, bytes);
}

/// Opens a file, and no link, in an open directory. A FIFO in its place keeps nobody waiting.
inline long open_in(long directory, const char* name, int flags, unsigned mode = 0) {
  return arch::syscall(SYS_openat, directory, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                       mode);
}
inline long mkdir_in(long directory, const char* name) {
  return arch::syscall(SYS_mkdirat, directory, name, 0700);
}

/// Opens a file, and no link, in a directory of ours, which is none either: the directory is opened
/// first, and -EACCES if another user owns it, who could put something else in the file's place.
/// `path` has a slash, and is changed meanwhile.
long open_own(char* path, int flags, unsigned mode = 0);

/// Makes a directory in one of ours, likewise.
long mkdir_own(char* path);

inline long mkdir(const char* path) { return arch::syscall(SYS_mkdirat, AT_FDCWD, path, 0700); }
inline long unlink(const char* path) { return arch::syscall(SYS_unlinkat, AT_FDCWD, path, 0); }
inline long readlink(const char* path, char* to, std::size_t bytes) {
  return arch::syscall(SYS_readlinkat, AT_FDCWD, path, to, bytes);
}
inline long pid() { return arch::syscall(SYS_getpid); }
inline long tid() { return arch::syscall(SYS_gettid); }

inline bool failed(const void* mapped) {
  return reinterpret_cast<std::uintptr_t>(mapped) >= -4095ul;
}
inline long error_of(const void* mapped) { return reinterpret_cast<long>(mapped); }
inline void* mmap(void* at, std::size_t bytes, int protection, int flags, long fd = -1,
                  std::uint64_t offset = 0) {
  return reinterpret_cast<void*>(arch::syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}
inline long munmap(void* at, std::size_t bytes) { return arch::syscall(SYS_munmap, at, bytes); }
inline long madvise(void* at, std::size_t bytes, int advice) {
  return arch::syscall(SYS_madvise, at, bytes, advice);
}

/// Whether the 8 bytes there can be read. rt_sigprocmask(2) reads the set before it looks at what
/// to do with it, and does nothing when that is nonsense.
inline bool readable(std::uint64_t address) {
  return arch::syscall(SYS_rt_sigprocmask, -1, address, nullptr, sizeof(std::uint64_t)) == -EINVAL;
}

inline std::uint64_t nanoseconds(clockid_t clock) {
  timespec now{};
  arch::syscall(SYS_clock_gettime, clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// Reads a file of /proc from its start; returns the bytes read (0 when it cannot be read).
std::size_t read_file(const char* path, char* to, std::size_t room);

/// Gives a file blocks up to `size` bytes, so that a full disk is an error here and not a SIGBUS at
/// a later store. Signals must be blocked: the SIGXFSZ of a file size limit is consumed. Returns
/// 0 or a negated error.
long allocate(long fd, std::uint64_t from, std::uint64_t size);

/// Opens a file as open_own() does, gives it so many bytes, and maps them, which forked children do
/// not have: the memory, for failed() and error_of(). Where it fails, the file is removed. Signals
/// must be blocked.
[[nodiscard]] void* map_own(char* path, int flags, std::uint64_t bytes);

/// Whether the file is in memory only (tmpfs): its pages are never written to a disk.
[[nodiscard]] bool in_memory(long fd);

/// Writes all of `bytes`; consumes a SIGPIPE or SIGXFSZ that this causes (signals must be
/// blocked). Returns the bytes written, or a negated error if there were none.
long write_all(long fd, const void* from, std::size_t bytes);

/// The same, at an offset of the file; what could not be written whole is an error. Returns 0 or a
/// negated error.
long write_all_at(long fd, const void* from, std::size_t bytes, std::uint64_t offset);

/// Anonymous memory that reads as zeros in a child after fork; null if there is none.
void* map_wiped_on_fork(std::size_t bytes);

}  // namespace heddle::trace::sys

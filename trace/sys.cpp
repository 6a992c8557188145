#include "sys.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>

namespace heddle::trace::sys {

namespace {

/// Consumes a signal that a system call of ours has just directed at this thread.
void consume_signal(int signal) {
  const std::uint64_t set = std::uint64_t{1} << (signal - 1);
  const timespec now{};
  arch::syscall(SYS_rt_sigtimedwait, &set, nullptr, &now, sizeof set);
}

/// Calls `write` until all is written. Returns the bytes written; `error` is what ended it early.
template <typename Write>
std::size_t repeat(const void* from, std::size_t bytes, long& error, Write write) {
  const char* next = static_cast<const char*>(from);
  std::size_t done = 0;
  error = 0;
  while (done < bytes && error == 0) {
    const long n = write(next + done, bytes - done, done);
    if (n == -EINTR) continue;
    if (n == -EPIPE) consume_signal(SIGPIPE);
    if (n == -EFBIG) consume_signal(SIGXFSZ);
    if (n > 0) done += static_cast<std::size_t>(n);
    if (n <= 0) error = n < 0 ? n : -ENOSPC;
  }
  return done;
}

/// Calls `action` with a descriptor of the directory that the path is in, and the name there.
template <typename Action>
long in_own_directory(char* path, Action action) {
  char* slash = path;
  for (char* c = path; *c != '\0'; ++c) {
    if (*c == '/') slash = c;
  }
  *slash = '\0';
  const long directory = open(slash == path ? "/" : path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  *slash = '/';
  if (directory < 0) return directory;
  struct stat status;
  long result = arch::syscall(SYS_fstat, directory, &status);
  if (result == 0) {
    const bool ours = status.st_uid == static_cast<uid_t>(arch::syscall(SYS_geteuid));
    result = ours ? action(directory, slash + 1) : -EACCES;
  }
  close(directory);
  return result;
}

}  // namespace

long open_own(char* path, int flags, unsigned mode) {
  return in_own_directory(path, [=](long directory, const char* name) {
    return open_in(directory, name, flags, mode);
  });
}

long mkdir_own(char* path) {
  return in_own_directory(
      path, [](long directory, const char* name) { return mkdir_in(directory, name); });
}

std::size_t read_file(const char* path, char* to, std::size_t room) {
  const long fd = open(path, O_RDONLY);
  if (fd < 0) return 0;
  std::size_t got = 0;
  while (got < room) {
    const long n = read(fd, to + got, room - got);
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  close(fd);
  return got;
}

long write_all(long fd, const void* from, std::size_t bytes) {
  long error;
  const std::size_t done = repeat(
      from, bytes, error,
      [fd](const char* next, std::size_t left, std::size_t) { return write(fd, next, left); });
  return done > 0 || error == 0 ? static_cast<long>(done) : error;
}

long write_all_at(long fd, const void* from, std::size_t bytes, std::uint64_t offset) {
  long error;
  repeat(from, bytes, error, [=](const char* next, std::size_t left, std::size_t done) {
    return arch::syscall(SYS_pwrite64, fd, next, left, offset + done);
  });
  return error;
}

long allocate(long fd, std::uint64_t from, std::uint64_t size) {
  long result;
  do {
    result = arch::syscall(SYS_fallocate, fd, 0, from, size - from);
  } while (result == -EINTR);
  if (result == -EFBIG) consume_signal(SIGXFSZ);
  if (result != -EOPNOTSUPP && result != -ENOSYS) return result;
  // NFS before 4.2, 9p and others cannot reserve: zeros, written, have their blocks as well.
  static const char zeros[4096] = {};
  arch::syscall(SYS_lseek, fd, from, SEEK_SET);
  while (from < size) {
    const std::uint64_t left = size - from;
    const long n = write_all(fd, zeros, left < sizeof zeros ? left : sizeof zeros);
    if (n <= 0) return n < 0 ? n : -ENOSPC;
    from += static_cast<std::uint64_t>(n);
  }
  return 0;
}

void* map_own(char* path, int flags, std::uint64_t bytes) {
  const long fd = open_own(path, O_RDWR | flags, 0600);
  if (fd < 0) return reinterpret_cast<void*>(fd);
  const long error = allocate(fd, 0, bytes);
  void* const mapped = error == 0 ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd)
                                  : reinterpret_cast<void*>(error);
  close(fd);
  if (failed(mapped)) {
    unlink(path);
  } else {
    madvise(mapped, bytes, MADV_DONTFORK);
  }
  return mapped;
}

bool in_memory(long fd) {
  struct statfs about;
  return arch::syscall(SYS_fstatfs, fd, &about) == 0 && about.f_type == TMPFS_MAGIC;
}

void* map_wiped_on_fork(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
  if (failed(memory)) return nullptr;
  if (madvise(memory, bytes, MADV_WIPEONFORK) < 0) {  // Linux before 4.14
    munmap(memory, bytes);
    return nullptr;
  }
  return memory;
}

}  // namespace heddle::trace::sys

// Functions of libc that start a program, so that a program with an environment of its own is
// recorded, too. They run in children of vfork and in signal handlers, so they take no memory but
// the stack's. Those that libc itself starts with its `environ` (system, popen) are not seen.
#include "exec.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

#include "environment.hpp"
#include "interpose.hpp"
#include "process.hpp"
#include "thread.hpp"
#include "unrecorded.hpp"

namespace heddle::trace {

namespace {

using Execute = int(const char*, char* const*, char* const*);
using ExecuteHere = int(const char*, char* const*);
using ExecuteOpen = int(int, char* const*, char* const*);
using ExecuteAt = int(int, const char*, char* const*, char* const*, int);
using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  char* const*, char* const*);
constinit Execute* real_execve = nullptr;
constinit Execute* real_execvpe = nullptr;
constinit ExecuteHere* real_execv = nullptr;
constinit ExecuteHere* real_execvp = nullptr;
constinit ExecuteOpen* real_fexecve = nullptr;
constinit ExecuteAt* real_execveat = nullptr;
constinit Spawn* real_spawn = nullptr;
constinit Spawn* real_spawnp = nullptr;

/// Calls `start` with the environment, mended where that is needed.
template <typename Start>
int with(char* const* environment, Start start) {
  const Mended mended(environment);
  if (!mended.needed()) return start(environment);
  return start(mended.write(__builtin_alloca(mended.bytes())));
}

/// Says whether another program is in this one's place, which ends its threads without a word. A
/// child of vfork has the memory of its parent, which goes on, but a number of its own.
void tell_replaced(bool replaced) {
  Process* const current = process();
  if (current == nullptr || current->header == nullptr) return;
  ProcessHeader& header = *current->header;
  const Thread* const self = local.self;
  const std::uint32_t known = self != nullptr ? self->about.tid : header.pid;
  if (known != static_cast<std::uint32_t>(sys::tid())) return;
  if (replaced) __atomic_fetch_or(&header.flags, kProcessReplaced, __ATOMIC_RELAXED);
  if (!replaced) __atomic_fetch_and(&header.flags, ~kProcessReplaced, __ATOMIC_RELAXED);
}

/// Calls `start`, which comes back only if it fails.
template <typename Start>
int become(const Started& program, Start start) {
  program.note();
  tell_replaced(true);
  Control* const told = control_if_barred();
  if (told != nullptr) __atomic_fetch_add(&told->barred, 1, __ATOMIC_RELAXED);
  const int result = start();
  if (told != nullptr) __atomic_fetch_sub(&told->barred, 1, __ATOMIC_RELAXED);
  tell_replaced(false);
  program.take_back();
  return result;
}

/// Calls `start`, which gives 0 if a process has been started.
template <typename Start>
int spawn(const Started& program, Start start) {
  const int result = start();
  if (result == 0) program.note();
  return result;
}

int execute(const char* path, char* const* arguments, char* const* environment) {
  auto* const real = next(real_execve, "execve");
  return become(Started(AT_FDCWD, path), [&] {
    return with(environment, [&](char* const* mended) { return real(path, arguments, mended); });
  });
}

/// With the program's own environment, which it may have emptied.
int execute_here(const char* path, char* const* arguments) {
  const Mended mended(environ);
  if (mended.needed()) return execute(path, arguments, environ);
  auto* const real = next(real_execv, "execv");
  return become(Started(AT_FDCWD, path), [&] { return real(path, arguments); });
}

int search(const char* name, char* const* arguments, char* const* environment) {
  auto* const real = next(real_execvpe, "execvpe");
  return become(Started(name), [&] {
    return with(environment, [&](char* const* mended) { return real(name, arguments, mended); });
  });
}

int search_here(const char* name, char* const* arguments) {
  const Mended mended(environ);
  if (mended.needed()) return search(name, arguments, environ);
  auto* const real = next(real_execvp, "execvp");
  return become(Started(name), [&] { return real(name, arguments); });
}

/// Calls `start` with the arguments of execl and its like as an array; what comes behind them in
/// `list` is execle's environment.
template <typename Start>
int with_list(const char* first, va_list& list, Start start) {
  va_list counting;
  va_copy(counting, list);
  std::size_t count = 1;  // the null at the end
  for (const char* each = first; each != nullptr; each = va_arg(counting, const char*)) ++count;
  va_end(counting);
  auto** const arguments = static_cast<char**>(__builtin_alloca(count * sizeof(char*)));
  arguments[0] = const_cast<char*>(first);
  for (std::size_t i = 1; i < count; ++i) arguments[i] = va_arg(list, char*);
  return start(arguments);
}

}  // namespace

void find_starts() {
  (void)next(real_execve, "execve");
  (void)next(real_execvpe, "execvpe");
  (void)next(real_execv, "execv");
  (void)next(real_execvp, "execvp");
  (void)next(real_fexecve, "fexecve");
  (void)next(real_execveat, "execveat");
  (void)next(real_spawn, "posix_spawn");
  (void)next(real_spawnp, "posix_spawnp");
}

}  // namespace heddle::trace

extern "C" {

[[gnu::visibility("default")]] int execve(const char* path, char* const* arguments,
                                          char* const* environment) noexcept {
  return heddle::trace::execute(path, arguments, environment);
}

[[gnu::visibility("default")]] int execv(const char* path, char* const* arguments) noexcept {
  return heddle::trace::execute_here(path, arguments);
}

[[gnu::visibility("default")]] int execvp(const char* name, char* const* arguments) noexcept {
  return heddle::trace::search_here(name, arguments);
}

[[gnu::visibility("default")]] int execvpe(const char* name, char* const* arguments,
                                           char* const* environment) noexcept {
  return heddle::trace::search(name, arguments, environment);
}

[[gnu::visibility("default")]] int fexecve(int file, char* const* arguments,
                                           char* const* environment) noexcept {
  using namespace heddle::trace;
  auto* const real = next(real_fexecve, "fexecve");
  return become(Started(file, ""), [&] {
    return with(environment, [&](char* const* mended) { return real(file, arguments, mended); });
  });
}

[[gnu::visibility("default")]] int execveat(int directory, const char* path, char* const* arguments,
                                            char* const* environment, int flags) noexcept {
  using namespace heddle::trace;
  auto* const real = next(real_execveat, "execveat");
  return become(Started(directory, path), [&] {
    return with(environment, [&](char* const* mended) {
      return real(directory, path, arguments, mended, flags);
    });
  });
}

[[gnu::visibility("default")]] int execl(const char* path, const char* first, ...) noexcept {
  va_list list;
  va_start(list, first);
  const int result = heddle::trace::with_list(first, list, [&](char* const* arguments) {
    return heddle::trace::execute_here(path, arguments);
  });
  va_end(list);
  return result;
}

[[gnu::visibility("default")]] int execlp(const char* name, const char* first, ...) noexcept {
  va_list list;
  va_start(list, first);
  const int result = heddle::trace::with_list(first, list, [&](char* const* arguments) {
    return heddle::trace::search_here(name, arguments);
  });
  va_end(list);
  return result;
}

[[gnu::visibility("default")]] int execle(const char* path, const char* first, ...) noexcept {
  va_list list;
  va_start(list, first);
  const int result = heddle::trace::with_list(first, list, [&](char* const* arguments) {
    return heddle::trace::execute(path, arguments, va_arg(list, char* const*));
  });
  va_end(list);
  return result;
}

[[gnu::visibility("default")]] int posix_spawn(pid_t* child, const char* path,
                                               const posix_spawn_file_actions_t* actions,
                                               const posix_spawnattr_t* attributes,
                                               char* const* arguments, char* const* environment) {
  using namespace heddle::trace;
  auto* const real = next(real_spawn, "posix_spawn");
  return spawn(Started(AT_FDCWD, path), [&] {
    return with(environment, [&](char* const* mended) {
      return real(child, path, actions, attributes, arguments, mended);
    });
  });
}

[[gnu::visibility("default")]] int posix_spawnp(pid_t* child, const char* name,
                                                const posix_spawn_file_actions_t* actions,
                                                const posix_spawnattr_t* attributes,
                                                char* const* arguments, char* const* environment) {
  using namespace heddle::trace;
  auto* const real = next(real_spawnp, "posix_spawnp");
  return spawn(Started(name), [&] {
    return with(environment, [&](char* const* mended) {
      return real(child, name, actions, attributes, arguments, mended);
    });
  });
}
}

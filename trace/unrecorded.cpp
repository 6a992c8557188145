#include "unrecorded.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "environment.hpp"
#include "load.hpp"
#include "quiet.hpp"
#include "text.hpp"

namespace heddle::trace {

namespace {

/// To open what may be anything: a FIFO without a writer would be waited for.
constexpr int kLook = O_RDONLY | O_NONBLOCK | O_NOCTTY;

bool read_at(long fd, void* to, std::size_t bytes, std::uint64_t offset) {
  return arch::syscall(SYS_pread64, fd, to, bytes, offset) == static_cast<long>(bytes);
}

/// Whether the loader, which then preloads nothing from a path, runs it with other rights than ours
/// (ld.so(8), "secure-execution mode").
bool gains_rights(long fd, const struct stat& status) {
  const auto own = static_cast<uid_t>(arch::syscall(SYS_getuid));
  const bool user = (status.st_mode & S_ISUID) != 0 && status.st_uid != own;
  const bool group = (status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 &&
                     status.st_gid != static_cast<gid_t>(arch::syscall(SYS_getgid));
  const bool capable =
      own != 0 && arch::syscall(SYS_fgetxattr, fd, "security.capability", nullptr, 0) > 0;
  if (!user && !group && !capable) return false;
  struct statfs file_system;
  const bool ignored =
      arch::syscall(SYS_fstatfs, fd, &file_system) == 0 && (file_system.f_flags & ST_NOSUID) != 0;
  return !ignored && arch::syscall(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

/// Why an ELF file is not recorded. One that the kernel refuses is none that is started.
const char* why_elf(long fd, const Elf64_Ehdr& header) {
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) return "machine";
  constexpr unsigned kMostBytes = 65536;  // as in Linux' load_elf_phdrs()
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return nullptr;
  if (header.e_phnum > kMostBytes / sizeof(Elf64_Phdr)) return nullptr;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    const std::uint64_t offset = header.e_phoff + i * sizeof segment;
    if (!read_at(fd, &segment, sizeof segment, offset)) return nullptr;
    if (segment.p_type == PT_INTERP) return nullptr;
  }
  return "static";
}

/// The interpreter of a script, as the kernel finds it.
const char* interpreter(long fd, char* line, std::size_t room) {
  const long n = arch::syscall(SYS_pread64, fd, line, room - 1, 0);
  if (n < 2 || line[0] != '#' || line[1] != '!') return nullptr;
  line[n] = '\0';
  char* path = line + 2;
  while (*path == ' ' || *path == '\t') ++path;
  char* end = path;
  while (*end != '\0' && *end != ' ' && *end != '\t' && *end != '\n') ++end;
  if (*end == '\0') return nullptr;  // cut
  *end = '\0';
  return path;
}

/// Why the program in this file is not recorded; null if it is, or it is no program. `depth`:
/// scripts that may interpret each other from here on.
const char* why_file(long fd, int depth) {
  struct stat status;
  if (arch::syscall(SYS_fstat, fd, &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  Elf64_Ehdr header;
  if (read_at(fd, &header, sizeof header, 0) && header.e_ident[EI_MAG0] == ELFMAG0 &&
      header.e_ident[EI_MAG1] == ELFMAG1 && header.e_ident[EI_MAG2] == ELFMAG2 &&
      header.e_ident[EI_MAG3] == ELFMAG3) {
    return gains_rights(fd, status) ? "rights" : why_elf(fd, header);
  }
  char line[256];
  const char* const path = depth > 0 ? interpreter(fd, line, sizeof line) : nullptr;
  if (path == nullptr) return nullptr;
  const long next = sys::open(path, kLook);
  if (next < 0) return nullptr;
  const char* const why = why_file(next, depth - 1);
  sys::close(next);
  return why;
}

constexpr int kMostScripts = 4;

/// Appends a line to the trace's file `unrecorded`; the path up to a newline in it.
void append(const char* what, const char* why, const char* path) {
  const Quiet quiet;
  const long fd = open_in_trace("unrecorded", O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (fd < 0) return;
  // One call, so that processes that write at once write lines.
  const auto part = [](const char* text, std::size_t bytes) {
    return iovec{const_cast<char*>(text), bytes};
  };
  std::size_t line = 0;
  while (path[line] != '\0' && path[line] != '\n') ++line;
  const iovec parts[] = {part(what, length(what)), part(why, length(why)), part(" ", 1),
                         part(path, line), part("\n", 1)};
  arch::syscall(SYS_writev, fd, parts, sizeof parts / sizeof parts[0]);
  sys::close(fd);
}

}  // namespace

void note_unrecorded(const char* why, const char* path) { append("opened ", why, path); }

const char* Started::look(int directory, const char* path) {
  if (loaded.bare || loaded.barred || path == nullptr) return nullptr;
  if (*path == '\0') return why_file(directory, kMostScripts);
  const long fd = arch::syscall(SYS_openat, directory, path, kLook | O_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  const char* const why = why_file(fd, kMostScripts);
  sys::close(fd);
  return why;
}

const char* Started::search(const char* name) {
  if (loaded.bare || loaded.barred || name == nullptr) return nullptr;
  for (const char* c = name; *c != '\0'; ++c) {
    if (*c == '/') return look(AT_FDCWD, name);
  }
  const char* place = environ != nullptr ? value_of(environ, "PATH=") : nullptr;
  if (place == nullptr) place = "/bin:/usr/bin";
  for (;;) {
    char path[512];
    Text text(path, sizeof path);
    if (*place == ':' || *place == '\0') text << '.';
    while (*place != ':' && *place != '\0') text << *place++;
    text << '/' << name;
    if (!text.fits()) return nullptr;
    if (arch::syscall(SYS_access, path, X_OK) == 0) return look(AT_FDCWD, path);
    if (*place == '\0') return nullptr;
    ++place;
  }
}

void Started::write(const char* what) const {
  if (why_ == nullptr) return;
  char found[1024] = {};  // the path of a file that is open
  if (*path_ == '\0') {
    char path[32];
    (Text(path, sizeof path) << "/proc/self/fd/").decimal(static_cast<std::uint32_t>(directory_));
    sys::readlink(path, found, sizeof found - 1);
  }
  append(what, why_, *path_ == '\0' ? found : path_);
}

}  // namespace heddle::trace

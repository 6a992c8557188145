#include "modules.hpp"

#include <link.h>
#include <sys/auxv.h>

#include "build_id.hpp"
#include "clock.hpp"
#include "coroutines.hpp"
#include "crc32.hpp"
#include "namespaces.hpp"
#include "note.hpp"
#include "text.hpp"
#include "unrecorded.hpp"

namespace heddle::trace {

namespace {

struct Scan {
  Modules& modules;
  std::uint64_t began;   ///< ticks
  std::uint64_t number;  ///< 0 until the first module has shown that something changed
  std::uint64_t adds, subs;
  long fd;
};

std::uint64_t hash(const char* text) {
  std::uint64_t value = 0xcbf29ce484222325;  // FNV-1a
  while (*text != '\0') value = (value ^ static_cast<std::uint8_t>(*text++)) * 0x100000001b3;
  return value;
}

/// A sum, eight hexadecimal digits and a space. A line's own and that of the line before, which is
/// a part of what is summed, go in front of its text.
constexpr std::size_t kSumBytes = 9;
constexpr std::size_t kBothSums = 2 * kSumBytes;

/// Where the text of a line is put together, in `modules.line` behind the place of the sums.
Text text_of_line(Modules& modules) {
  return {modules.line + kBothSums, sizeof modules.line - kBothSums};
}

void put_sum(char* to, std::uint32_t sum) {
  for (std::size_t i = kSumBytes - 1; i-- > 0; sum >>= 4) to[i] = "0123456789abcdef"[sum % 16];
  to[kSumBytes - 1] = ' ';
}

/// Appends the line with this text and the sums, wholly or not at all: what a later line would be
/// glued to is cut off again.
bool append(Scan& scan, const Text& text) {
  Modules& modules = scan.modules;
  put_sum(modules.line + kSumBytes, modules.sum);
  const std::uint32_t sum = crc32(modules.line + kSumBytes, kSumBytes + text.size());
  put_sum(modules.line, sum);
  modules.line[kBothSums + text.size()] = '\n';  // in the place of the zero
  const std::size_t size = kBothSums + text.size() + 1;
  if (scan.fd < 0) {
    scan.fd = sys::open_own(modules.path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (scan.fd < 0) {
      note_trouble(*modules.trouble_noted, "cannot write", modules.path, scan.fd);
      return false;
    }
  }
  const long written = sys::write_all(scan.fd, modules.line, size);
  if (written == static_cast<long>(size)) {
    modules.sum = sum;
    const std::uint64_t bytes = __atomic_add_fetch(&modules.bytes, size, __ATOMIC_RELEASE);
    // After the line, so that no reader misses one that is only being written.
    __atomic_store_n(modules.told, static_cast<std::uint32_t>(bytes), __ATOMIC_RELEASE);
    return true;
  }
  if (written > 0) {
    const long end = arch::syscall(SYS_lseek, scan.fd, 0, SEEK_END);
    arch::syscall(SYS_ftruncate, scan.fd, end - written);
  }
  note_trouble(*modules.trouble_noted, "cannot write", modules.path,
               written < 0 ? written : -ENOSPC);
  return false;
}

void append_unload(Scan& scan, const Module& module, std::uint64_t when) {
  Text line = text_of_line(scan.modules);
  (line << "unload ").decimal(when) << ' ';
  line.hex(module.start);
  append(scan, line);
}

void forget(Scan& scan, std::uint64_t index, std::uint64_t when) {
  Modules& modules = scan.modules;
  append_unload(scan, modules.known[index], when);
  forget_coroutines(modules.known[index].start, modules.known[index].end);
  modules.known[index] = modules.known[--modules.count];
}

bool make_room(Modules& modules) {
  if (modules.count < modules.room) return true;
  const std::uint64_t room = modules.room == 0 ? 128 : modules.room * 2;
  auto* known = static_cast<Module*>(sys::map_wiped_on_fork(room * sizeof(Module)));
  if (known == nullptr) return false;
  for (std::uint64_t i = 0; i < modules.count; ++i) known[i] = modules.known[i];
  if (modules.known != nullptr) sys::munmap(modules.known, modules.room * sizeof(Module));
  modules.known = known;
  modules.room = room;
  return true;
}

/// The module's absolute path, in `modules.name`. The loader names the program "".
const char* path_of(Modules& modules, const char* name) {
  if (*name == '\0') {
    const long n = sys::readlink("/proc/self/exe", modules.name, sizeof modules.name - 1);
    modules.name[n > 0 ? n : 0] = '\0';
    return modules.name;
  }
  if (*name == '/') return name;
  // The name is as dlopen() got it: relative to the working directory of that moment, read soon
  // after.
  if (arch::syscall(SYS_getcwd, modules.name, sizeof modules.name) < 0) return name;
  std::size_t size = 0;
  while (modules.name[size] != '\0') ++size;
  if (name[0] == '.' && name[1] == '/') name += 2;
  Text(modules.name + size, sizeof modules.name - size) << (size > 1 ? "/" : "") << name;
  return modules.name;
}

/// Whether two ranges have addresses in common whose low 32 bits are the same.
bool overlap_in_32_bits(const Module& a, const Module& b) {
  const auto distance = static_cast<std::uint32_t>(a.text_start - b.text_start);
  return a.text_end != 0 && b.text_end != 0 &&
         (distance < b.text_end - b.text_start || -distance < a.text_end - a.text_start);
}

bool any_overlap(const Modules& modules) {
  for (std::uint64_t i = 0; i < modules.count; ++i) {
    for (std::uint64_t k = 0; k < i; ++k) {
      if (overlap_in_32_bits(modules.known[i], modules.known[k])) return true;
    }
  }
  return false;
}

void put_path(Text& line, const char* path) {
  for (; *path != '\0'; ++path) {
    if (*path == '\\') {
      line << "\\\\";
    } else if (*path == '\n') {
      line << "\\n";
    } else {
      line << *path;
    }
  }
}

void meet(Scan& scan, const dl_phdr_info& info) {
  Modules& modules = scan.modules;
  Module module{~std::uint64_t{0}, 0, info.dlpi_addr, ~std::uint64_t{0}, 0, 0, scan.number};
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& load = info.dlpi_phdr[i];
    if (load.p_type != PT_LOAD) continue;
    const std::uint64_t start = (info.dlpi_addr + load.p_vaddr) & ~std::uint64_t{4095};
    const std::uint64_t end =
        (info.dlpi_addr + load.p_vaddr + load.p_memsz + 4095) & ~std::uint64_t{4095};
    if (start < module.start) module.start = start;
    if (end > module.end) module.end = end;
    if ((load.p_flags & PF_X) == 0) continue;
    if (start < module.text_start) module.text_start = start;
    if (end > module.text_end) module.text_end = end;
  }
  if (module.text_end == 0) module.text_start = 0;
  const std::uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
  if (module.end == 0 || (vdso >= module.start && vdso < module.end)) return;

  // The loader's name is hashed, not the path: the path is only looked up for what is new.
  module.path_hash = hash(info.dlpi_name);
  for (std::uint64_t i = 0; i < modules.count;) {
    Module& known = modules.known[i];
    if (known.start == module.start && known.end == module.end && known.bias == module.bias &&
        known.path_hash == module.path_hash) {
      known.seen = scan.number;
      return;
    }
    if (known.start < module.end && module.start < known.end) {
      forget(scan, i, modules.since);  // its address range has a new owner
    } else {
      ++i;
    }
  }
  if (!make_room(modules)) {
    note_trouble(*modules.trouble_noted, "cannot write", modules.path, -ENOMEM);
    return;
  }
  const char* path = path_of(modules, info.dlpi_name);
  Text line = text_of_line(modules);
  (line << "load ").decimal(modules.since) << ' ';
  line.hex(module.start) << ' ';
  line.hex(module.end) << ' ';
  line.hex(module.text_start) << ' ';
  line.hex(module.text_end) << ' ';
  line.hex(module.bias) << ' ';
  put_build_id(line, info);
  line << ' ';
  put_path(line, path);
  if (append(scan, line)) modules.known[modules.count++] = module;
}

/// Notes the libraries with hooks in other link namespaces, each once.
void tell_elsewhere(Modules& modules, const dl_phdr_info& program) {
  Elsewhere all(program);
  while (const link_map* module = all.next()) {
    const std::uint64_t name = hash(module->l_name);
    unsigned i = 0;
    while (i < modules.told_elsewhere && modules.elsewhere[i] != name) ++i;
    if (i < modules.told_elsewhere) continue;
    if (i == sizeof modules.elsewhere / sizeof modules.elsewhere[0]) return;
    modules.elsewhere[modules.told_elsewhere++] = name;
    note_unrecorded("namespace", path_of(modules, module->l_name));
  }
}

int on_module(dl_phdr_info* info, std::size_t, void* data) {
  Scan& scan = *static_cast<Scan*>(data);
  const Locked locked(scan.modules.lock);
  if (scan.number == 0) {
    if (scan.modules.scans != 0 && scan.modules.adds == info->dlpi_adds &&
        scan.modules.subs == info->dlpi_subs) {
      return 1;
    }
    scan.number = ++scan.modules.scans;
    scan.adds = info->dlpi_adds;
    scan.subs = info->dlpi_subs;
    tell_elsewhere(scan.modules, *info);  // the loader tells of the program first
  }
  meet(scan, *info);
  return 0;
}

int compare_counters(dl_phdr_info* info, std::size_t, void* data) {
  const Modules& modules = *static_cast<const Modules*>(data);
  return modules.adds == info->dlpi_adds && modules.subs == info->dlpi_subs ? 1 : 2;
}

}  // namespace

[[HEDDLE_ALIGNS_STACK]] bool modules_changed(Modules& modules) {
  if (!enter(modules.gate)) return true;
  const bool changed = dl_iterate_phdr(compare_counters, &modules) == 2;
  leave(modules.gate);
  return changed;
}

[[HEDDLE_ALIGNS_STACK]] bool scan_modules(Modules& modules, bool wait) {
  if (!(wait ? enter_when_free(modules.gate) : enter(modules.gate))) return false;
  Scan scan{modules, ticks(), 0, 0, 0, -1};
  dl_iterate_phdr(on_module, &scan);
  leave(modules.gate);
  const Locked locked(modules.lock);
  if (scan.number != 0) {
    // Scans follow one another under the loader's lock, so whatever this one did not meet, and no
    // later one has met either, is gone.
    for (std::uint64_t i = 0; i < modules.count;) {
      if (modules.known[i].seen < scan.number) {
        forget(scan, i, scan.began);
      } else {
        ++i;
      }
    }
    __atomic_store_n(&modules.adds, scan.adds, __ATOMIC_RELEASE);
    modules.subs = scan.subs;
    if (modules.count != 0) {
      const Module& first = modules.known[0];
      __atomic_store_n(&modules.first_text, first.text_start, __ATOMIC_RELAXED);
      __atomic_store_n(&modules.first_text_size, first.text_end - first.text_start,
                       __ATOMIC_RELAXED);
    }
    __atomic_store_n(&modules.overlap, any_overlap(modules), __ATOMIC_RELEASE);
  }
  if (scan.began > modules.since) modules.since = scan.began;
  if (scan.fd >= 0) sys::close(scan.fd);
  return true;
}

}  // namespace heddle::trace

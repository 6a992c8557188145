#include "stack_bounds.hpp"

#include <sys/resource.h>

#include "proc_text.hpp"
#include "sys.hpp"

namespace heddle::trace {

namespace {

/// struct procmap_query of <linux/fs.h> (Linux 6.11), which Debian 12's headers lack.
struct MapQuery {
  std::uint64_t size, flags, address;
  std::uint64_t start, end, vma_flags, page_size, offset, inode;
  std::uint32_t device_major, device_minor, name_size, build_id_size;
  std::uint64_t name, build_id;
};
static_assert(sizeof(MapQuery) == 104);
constexpr std::uint64_t kSmallestStack = 16384;  // PTHREAD_STACK_MIN

bool find_mapping(std::uint64_t address, StackBounds& found, char* scratch, std::uint64_t bytes) {
  const long fd = sys::open("/proc/self/maps", O_RDONLY);
  if (fd < 0) return false;
  MapQuery query{};
  query.size = sizeof query;
  query.address = address;
  bool ok = arch::syscall(SYS_ioctl, fd, kProcmapQuery, &query) == 0;
  if (ok) {
    found = {query.start, query.end};
  } else {
    ok = find_in_maps(fd, address, found, scratch, bytes);
  }
  sys::close(fd);
  return ok;
}

StackBounds main_stack(char* scratch, std::uint64_t bytes) {
  StackBounds found{};
  const std::uint64_t read = sys::read_file("/proc/self/stat", scratch, bytes);
  const std::uint64_t inside = start_of_main_stack(scratch, read);
  if (inside == 0 || !find_mapping(inside, found, scratch, bytes)) return {};
  // It grows on demand, down to its limit; without a limit only what it has now is known.
  rlimit limit{};
  const long error =
      arch::syscall(SYS_prlimit64, 0, RLIMIT_STACK, static_cast<void*>(nullptr), &limit);
  if (error == 0 && limit.rlim_cur != RLIM_INFINITY && found.high - limit.rlim_cur < found.low) {
    found.low = found.high - limit.rlim_cur;
  }
  return found;
}

StackBounds other_stack(std::uint64_t given, char* scratch, std::uint64_t bytes) {
  // glibc puts the thread control block on top of the thread's stack, above every frame, also when
  // the program supplied the stack; neighbours above it may have become one mapping with it.
  const std::uint64_t control_block = arch::thread_pointer();
  StackBounds found{};
  if (given != 0 && given < control_block) {
    found.low = given;
  } else if (!find_mapping(control_block, found, scratch, bytes)) {
    return {};
  }
  found.high = control_block;
  // Too small for any thread: this is the main thread's block, seen by a vfork child under another
  // thread id.
  if (found.high - found.low < kSmallestStack) return {};
  return found;
}

bool holds(const StackBounds& stack, std::uint64_t address) {
  return address >= stack.low && address < stack.high;
}

}  // namespace

StackBounds stack_bounds(Stack which, std::uint64_t given, char* scratch, std::uint64_t bytes) {
  if (which == Stack::kOther) return other_stack(given, scratch, bytes);
  const StackBounds main = main_stack(scratch, bytes);
  const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  if (which == Stack::kMain || holds(main, here)) return main;
  const StackBounds other = other_stack(given, scratch, bytes);
  return holds(other, here) ? other : main;
}

}  // namespace heddle::trace

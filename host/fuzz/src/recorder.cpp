// The recorder's readers, each given bytes as it would get them: see recorder.rs.
#include <elf.h>
#include <linux/audit.h>

#include <initializer_list>

#include "../../../trace/arch/x86_64_code.hpp"
#include "../../../trace/build_id.hpp"
#include "../../../trace/filter.hpp"
#include "../../../trace/load.hpp"
#include "../../../trace/plan.hpp"
#include "../../../trace/proc_text.hpp"
#include "../../../trace/seccomp_filter.hpp"
#include "../../../trace/unrecorded.hpp"

namespace heddle::trace {

// The rest of filter.cpp follows calls.
constinit FilterSettings filter{};

namespace {

/// An input's bytes, from the first on. Behind the last come zeros.
class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t size) : next_(bytes), end_(bytes + size) {}

  std::uint8_t byte() { return next_ != end_ ? *next_++ : 0; }
  std::uint64_t number(unsigned bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{byte()} << 8 * i;
    return value;
  }
  [[nodiscard]] const std::uint8_t* rest() const { return next_; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - next_); }
  /// At most so many of the bytes that are left.
  Input take(std::size_t most) {
    const std::size_t count = most < size() ? most : size();
    next_ += count;
    return {next_ - count, count};
  }

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

/// A copy of bytes directly in front of a page that cannot be read.
class Guarded {
 public:
  Guarded(const void* from, std::size_t bytes) : room_((bytes + kPage - 1) / kPage * kPage) {
    void* const area = sys::mmap(nullptr, room_ + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (sys::failed(area)) __builtin_trap();
    area_ = static_cast<std::uint8_t*>(area);
    arch::syscall(SYS_mprotect, area_, room_, PROT_READ | PROT_WRITE);
    begin_ = area_ + room_ - bytes;
    __builtin_memcpy(begin_, from, bytes);
  }
  ~Guarded() { sys::munmap(area_, room_ + kPage); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  template <typename Word>
  [[nodiscard]] Word* as() const {
    return reinterpret_cast<Word*>(begin_);
  }

 private:
  static constexpr std::size_t kPage = 4096;
  std::size_t room_;
  std::uint8_t* area_;
  std::uint8_t* begin_;
};

bool write_file(const char* path, const Input& bytes) {
  sys::unlink(path);
  const long fd = sys::open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);
  if (fd < 0) return false;
  const bool whole =
      sys::write_all(fd, bytes.rest(), bytes.size()) == static_cast<long>(bytes.size());
  sys::close(fd);
  return whole;
}

/// Looks an address up in the plans: in the table of ranges, and by the decision that is cached.
const char* ask(std::uint64_t address) {
  if (address == 0 || address >> 47 != 0) return nullptr;  // of no function
  const std::uint32_t range = planned_range(address);
  if (filter.patterns == 0 && !frame_code.told) return nullptr;  // nobody asks otherwise
  const std::uint32_t bits = range == kNotPlanned ? 0 : range & 0xff;
  if (planned_bits(address) != bits) return "a decision is not the plan's";
  if (planned_bits(address) != bits) return "a decision that is kept is not the plan's";
  return nullptr;
}

/// Gives a process that has asked this plan, and then asks about the addresses in it.
const char* take(const char* directory, const Input& plan) {
  static Process process;
  static Control control;
  static std::uint64_t adds = 0;
  process = {};
  control = {};
  control.answers = ~0u;  // there is no more to wait for than the plan
  Text(process.directory, sizeof process.directory) << directory;
  process.control = &control;
  process.modules.adds = ++adds;
  process.modules.bytes = 1;
  char path[4200];
  Text(path, sizeof path) << directory << "/plan-1";
  if (!write_file(path, plan)) return "no file for a plan";
  ask_for_plan(process);
  sys::unlink(path);
  constexpr std::size_t kHeader = 32, kMost = 64;
  Input words = plan;
  (void)words.take(kHeader);
  for (std::size_t i = 0; i < kMost && words.size() >= sizeof(std::uint64_t); ++i) {
    const std::uint64_t address = words.number(sizeof(std::uint64_t));
    for (const std::uint64_t near : {address - 1, address, address + 1, address << 4}) {
      if (const char* const wrong = ask(near)) return wrong;
    }
  }
  return nullptr;
}

/// Two plans, one after the other: flags, the length of the first, and both.
const char* read_plans(const char* directory, Input input) {
  const std::uint8_t flags = input.byte();
  filter.patterns = (flags & 1) != 0 ? kIncluded : 0;
  filter.active = filter.patterns != 0;
  loaded.coroutines = (flags & 2) != 0 ? Coroutines::kPlanned : Coroutines::kOff;
  const Input first = input.take(input.number(2));
  const char* wrong = take(directory, first);
  if (wrong == nullptr) wrong = take(directory, input.take(input.size()));
  // A module that is everywhere, and has nothing, takes the place of all others.
  loaded.coroutines = Coroutines::kOff;
  static constexpr std::uint64_t kNothing[] = {
      kPlanMagic, std::uint64_t{1} << 32 | kVersion, 1, 0, 0, ~std::uint64_t{0}, 0, 0};
  filter.patterns = kIncluded;  // forgets all decisions
  const Input nothing(reinterpret_cast<const std::uint8_t*>(kNothing), sizeof kNothing);
  const char* const after = take(directory, nothing);
  frame_code = {};
  return wrong != nullptr ? wrong : after;
}

/// A file that is about to be started.
const char* read_program(const char* directory, const Input& input) {
  Text(loaded.directory, sizeof loaded.directory) << directory;
  char path[4200];
  Text(path, sizeof path) << directory << "/program";
  if (!write_file(path, input)) return "no file for a program";
  const Started started(AT_FDCWD, path);
  started.note();
  started.take_back();
  Text(path, sizeof path) << directory << "/unrecorded";
  char lines[4096];
  const std::size_t bytes = sys::read_file(path, lines, sizeof lines);
  std::size_t ends = 0;
  for (std::size_t i = 0; i < bytes; ++i) ends += lines[i] == '\n' ? 1 : 0;
  if (bytes != 0 && (ends != 2 || lines[bytes - 1] != '\n')) return "a start is not a line";
  sys::unlink(path);
  return nullptr;
}

/// A call's number and arguments, and a seccomp filter.
const char* read_filter(Input input) {
  seccomp_data about{};
  about.nr = static_cast<int>(input.number(4));
  about.arch = AUDIT_ARCH_X86_64;
  for (auto& argument : about.args) argument = input.number(4);
  const std::size_t steps = input.size() / sizeof(sock_filter);
  const Guarded call(&about, sizeof about);
  const Guarded filter(input.rest(), steps * sizeof(sock_filter));
  const sock_fprog program{static_cast<unsigned short>(steps), filter.as<sock_filter>()};
  const std::uint32_t action = seccomp_action(program, *call.as<seccomp_data>());
  const bool same = seccomp_action(program, *call.as<seccomp_data>()) == action;
  return same ? nullptr : "a filter takes two actions";
}

/// Where an object is, and code.
const char* read_code(Input input) {
  constexpr std::uint32_t kRegisters = 16, kOnStack = 16, kRsp = 4;
  const std::uint32_t where = input.byte();
  arch::AddressPlace place{where % kRegisters, (where & kOnStack) != 0, 0};
  if (place.on_stack) place.base = kRsp + where % 2;  // or rbp
  place.offset = static_cast<std::int8_t>(input.byte());
  const Guarded code(input.rest(), input.size());
  const std::uint32_t access = arch::certain_access(code.as<std::uint8_t>(), input.size(), place);
  return access == arch::kNoAccess || access < 4096 ? nullptr : "an access is too far";
}

/// Segments of notes, and what is mapped.
const char* read_notes(Input input) {
  constexpr unsigned kMost = 4;
  ElfW(Phdr) segments[kMost + 1] = {};
  const unsigned count = input.byte() % (kMost + 1);
  for (unsigned i = 0; i < count; ++i) {
    segments[i].p_type = PT_NOTE;
    segments[i].p_vaddr = input.number(8);
    segments[i].p_memsz = input.number(8);
    segments[i].p_align = input.byte();
  }
  const Guarded mapped(input.rest(), input.size());
  segments[count].p_type = PT_LOAD;
  segments[count].p_flags = PF_R;
  segments[count].p_memsz = input.size();
  dl_phdr_info info{};
  info.dlpi_addr = reinterpret_cast<std::uint64_t>(mapped.as<char>());
  info.dlpi_phdr = segments;
  info.dlpi_phnum = static_cast<ElfW(Half)>(count + 1);
  char text[256];
  Text line(text, sizeof text);
  put_build_id(line, info);
  return line.size() == 0 ? "a build id is empty" : nullptr;
}

/// An address, the room for a line, and a text of the kernel's.
const char* read_texts(Input input) {
  const std::uint64_t address = input.number(8);
  char text[512];
  const std::size_t room = 1 + input.number(2) % sizeof text;
  (void)start_of_main_stack(reinterpret_cast<const char*>(input.rest()), input.size());
  const long fd = arch::syscall(SYS_memfd_create, "text", 0);
  if (fd < 0) return "no file for a text";
  sys::write_all(fd, input.rest(), input.size());
  arch::syscall(SYS_lseek, fd, 0, SEEK_SET);
  StackBounds found{};
  const bool is_found = find_in_maps(fd, address, found, text, room);
  sys::close(fd);
  const bool inside = address >= found.low && address < found.high;
  return !is_found || inside ? nullptr : "a mapping is not around its address";
}

}  // namespace

}  // namespace heddle::trace

extern "C" const char* heddle_fuzz_recorder(const char* directory, const std::uint8_t* bytes,
                                            std::size_t size) {
  using namespace heddle::trace;
  Input input(bytes, size);
  switch (input.byte()) {
    case 'p':
      return read_plans(directory, input);
    case 's':
      return read_program(directory, input);
    case 'f':
      return read_filter(input);
    case 'c':
      return read_code(input);
    case 'n':
      return read_notes(input);
    case 't':
      return read_texts(input);
    default:
      return nullptr;
  }
}

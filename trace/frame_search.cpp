#include "frame_search.hpp"

#include <sys/uio.h>

#include "arch/x86_64_code.hpp"
#include "load.hpp"
#include "process.hpp"
#include "words.hpp"

namespace heddle::trace {

namespace {

/// Entries of a table that are looked at before it counts as full.
constexpr std::uint64_t kProbes = 16;

/// The two functions of a coroutine, by the one that destroys: a frame at its final suspend point
/// names that one alone.
struct Pair {
  std::uint64_t destroyer, resumer;
};
constexpr unsigned kPairBits = 12;
constinit Pair pairs[1u << kPairBits]{};

/// Pages (address >> 12) that could be read and held a frame: those may be read without asking.
constexpr unsigned kPageBits = 14;
constinit std::uint64_t pages[1u << kPageBits]{};

constinit long hidden = 0;

/// process_vm_readv(2) of this process; bytes copied.
std::uint64_t copy(const iovec& here, const iovec* there, std::uint64_t count) {
  if (loaded.barred || loaded.blind) return 0;
  const Process* const current = process();
  const long pid = current != nullptr && current->pid != 0 ? current->pid : sys::pid();
  const long result = arch::syscall(SYS_process_vm_readv, pid, &here, 1, there, count, 0);
  if (result == -EPERM || result == -ENOSYS) __atomic_store_n(&hidden, result, __ATOMIC_RELAXED);
  return result < 0 ? 0 : static_cast<std::uint64_t>(result);
}

bool entered(const HookState& state, std::uint64_t address) {
  constexpr std::uint64_t kMostBefore = 16;  // endbr64, and the call of the hook
  if (state.function != 0) return address == state.function;
  return state.site - address <= kMostBefore;
}

/// Finds the pair of the function that destroys. Null if there is none and, with `add`, no room for
/// a new one.
Pair* pair_of(std::uint64_t destroyer, bool add) {
  const std::uint64_t first = hash(destroyer, kPairBits);
  for (std::uint64_t i = 0; i < kProbes; ++i) {
    Pair& pair = pairs[(first + i) & ((1u << kPairBits) - 1)];
    std::uint64_t known = load_word(pair.destroyer);
    if (known == destroyer) return &pair;
    if (known != 0) continue;
    if (!add) return nullptr;
    if (__atomic_compare_exchange_n(&pair.destroyer, &known, destroyer, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED) ||
        known == destroyer) {
      return &pair;
    }
  }
  return nullptr;
}

/// The frame that the thread was seen to enter its destroying function with, if it was the last.
constinit __thread std::uint64_t destroyed = 0;

/// Whether a value is that of a frame with which what is entered is called, by its first words.
bool frame_begins(const HookState& state, std::uint64_t value, std::uint64_t first,
                  std::uint64_t second) {
  if (entered(state, first)) return true;
  if (entered(state, second)) {
    destroyed = value;
    return true;
  }
  if (first != 0 || second == 0) return false;
  Pair* const pair = pair_of(second, false);
  if (pair == nullptr) return false;
  const std::uint64_t resumer = load_word(pair->resumer);
  if (resumer != 0) return entered(state, resumer);
  // The coroutine was only seen when it was destroyed. The first function that its destroying
  // function calls is its resuming function.
  if (destroyed != value) return false;
  destroyed = 0;
  if (state.function != 0) store_word(pair->resumer, state.function);
  return true;
}

/// Learns from a frame's first words which resuming function belongs to which destroying one.
void remember_pair(const HookState& state, std::uint64_t first, std::uint64_t second) {
  if (second == 0 || !(entered(state, first) || entered(state, second))) return;
  Pair* const pair = pair_of(second, true);
  if (pair != nullptr && first != 0) store_word(pair->resumer, first);
}

constexpr std::uint64_t kPageBytes = 4096;

bool same_page(std::uint64_t a, std::uint64_t b) { return a / kPageBytes == b / kPageBytes; }

bool may_be_frame(std::uint64_t value) {
  constexpr std::uint64_t kLowest = 1 << 16, kHighest = std::uint64_t{1} << 47;
  return value % 8 == 0 && value >= kLowest && value < kHighest;
}

struct Words {
  std::uint64_t first, second;
};

bool begins_here(const HookState& state, std::uint64_t value, const Words& words) {
  if (!frame_begins(state, value, words.first, words.second)) return false;
  remember_pair(state, words.first, words.second);
  store_word(pages[hash(value >> 12, kPageBits)], value >> 12);
  return true;
}

/// Values that may be the frame, looked at together.
class Candidates {
 public:
  Candidates(const HookState& state, Found& found) : state_(state), found_(found) {}

  void add(std::uint32_t bit, std::uint64_t value) {
    if (found_.frame != 0) {
      if (value == found_.frame) found_.places |= std::uint64_t{1} << bit;
      return;
    }
    if (!may_be_frame(value)) return;
    bits_[count_] = bit;
    there_[count_++] = {reinterpret_cast<void*>(value), sizeof(Words)};
    if (count_ == kMost) look();
  }

  void look() {
    const std::uint32_t count = count_;
    count_ = 0;
    for (std::uint32_t next = 0; next < count;) {
      Words words[kMost];
      // It ends at the first that cannot be read.
      const std::uint64_t readable =
          copy({words, sizeof words}, there_ + next, count - next) / sizeof(Words);
      for (std::uint64_t i = 0; i < readable; ++i) examine(next + i, words[i]);
      next += static_cast<std::uint32_t>(readable) + 1;
    }
  }

 private:
  static constexpr std::uint32_t kMost = 8;  // the stack may be small

  void examine(std::uint64_t i, const Words& words) {
    const auto value = reinterpret_cast<std::uint64_t>(there_[i].iov_base);
    if (found_.frame == 0 && begins_here(state_, value, words)) found_.frame = value;
    if (value == found_.frame) found_.places |= std::uint64_t{1} << bits_[i];
  }

  const HookState& state_;
  Found& found_;
  std::uint32_t count_ = 0;
  std::uint32_t bits_[kMost];
  iovec there_[kMost];
};

/// Adds words of the stack: `count` places from that of bit `first`, at rising addresses from
/// `address`, or at falling ones.
void add_words(Candidates& candidates, std::uint64_t places, std::uint32_t first,
               std::uint32_t count, std::uint64_t address, bool falling) {
  constexpr std::uint32_t kPiece = 8;
  for (std::uint32_t done = 0; done < count; done += kPiece) {
    if ((places >> (first + done) & 0xff) == 0) continue;
    std::uint64_t piece[kPiece];
    const std::uint64_t from = falling ? address - 8 * (done + kPiece - 1) : address + 8 * done;
    const std::uint64_t whole = read_safely(from, piece, sizeof piece) / 8;
    for (std::uint32_t i = 0; i < kPiece; ++i) {
      const std::uint32_t at = falling ? kPiece - 1 - i : i;
      const std::uint32_t bit = first + done + i;
      if (at < whole && (places >> bit & 1) != 0) candidates.add(bit, piece[at]);
    }
  }
}

}  // namespace

std::uint64_t read_safely(std::uint64_t from, void* to, std::uint64_t bytes) {
  const iovec there{reinterpret_cast<void*>(from), bytes};
  return copy({to, bytes}, &there, 1);
}

long coroutines_hidden() { return __atomic_load_n(&hidden, __ATOMIC_RELAXED); }

bool is_frame(const HookState& state, std::uint64_t value) {
  Words words{};
  return may_be_frame(value) && read_safely(value, &words, sizeof words) == sizeof words &&
         begins_here(state, value, words);
}

bool is_frame_quickly(const HookState& state, std::uint64_t value) {
  if (!may_be_frame(value)) return false;
  if (load_word(pages[hash(value >> 12, kPageBits)]) != value >> 12) return is_frame(state, value);
  const auto* const words = reinterpret_cast<const Words*>(value);
  return frame_begins(state, value, words->first, words->second);
}

Learnt learn(const HookState& state, std::uint32_t place) {
  // By the processor's numbers. The hooks of the first way do not preserve rdi.
  constexpr std::uint32_t kNumbers[kRegisters] = {3, 5, 12, 13, 14, 15, 7};
  constexpr std::uint32_t kRsp = 4, kRbp = 5;
  arch::AddressPlace where{};
  if (is_register(place)) {
    if (place == kRdi && state.function != 0) return {place, 0};
    where.base = kNumbers[place - 1];
  } else {
    const bool below = place < kAboveStack;
    const std::uint64_t from = below ? state.registers[1] : state.stack_pointer;
    where = {below ? kRbp : kRsp, true, static_cast<std::int32_t>(word_of(state, place) - from)};
  }
  std::uint8_t code[64];
  const std::uint64_t bytes = read_safely(state.site, code, sizeof code);
  const std::uint32_t access = arch::certain_access(code, bytes, where);
  return {place, access == arch::kNoAccess ? 0 : access + 1};
}

std::uint64_t frame_in(const HookState& state, Learnt learnt) {
  std::uint64_t value = 0;
  if (is_register(learnt.place)) {
    value = state.registers[learnt.place - 1];
  } else {
    const std::uint64_t there = word_of(state, learnt.place);
    // The code that accesses the frame reads this word, too.
    const bool read = learnt.reach != 0 || same_page(there, state.stack_pointer);
    if (there % 8 != 0 || (!read && !sys::readable(there))) return 0;
    value = *reinterpret_cast<const std::uint64_t*>(there);
  }
  if (!may_be_frame(value)) return 0;
  const std::uint64_t accessed = learnt.reach != 0 ? value + learnt.reach - 1 : ~value;
  if (!same_page(value, accessed) && !sys::readable(value)) return 0;
  if (!same_page(value, value + 8) && !sys::readable(value + 8)) return 0;
  const auto* const words = reinterpret_cast<const Words*>(value);
  return frame_begins(state, value, words->first, words->second) ? value : 0;
}

std::uint64_t value_at(const HookState& state, std::uint32_t place) {
  if (is_register(place)) return state.registers[place - 1];
  std::uint64_t value = 0;
  return read_safely(word_of(state, place), &value, sizeof value) == sizeof value ? value : 0;
}

Found try_places(const HookState& state, std::uint64_t places) {
  // By the second way only the argument says it: what is in other places is the caller's.
  constexpr std::uint64_t kArgument = std::uint64_t{1} << (kRdi - 1);
  places &= state.function == 0 ? kArgument : ~kArgument;
  Found found{};
  Candidates candidates(state, found);
  for (std::uint32_t i = 0; i < kRegisters; ++i) {
    if ((places >> i & 1) != 0) candidates.add(i, state.registers[i]);
  }
  // A frame pointer points above the stack pointer, and not far.
  constexpr std::uint64_t kFar = 1 << 16;
  const std::uint64_t below = word_of(state, kBelowFrame);
  if (below - state.stack_pointer < kFar) {
    add_words(candidates, places, kRegisters, kBelowTried, below, true);
  }
  add_words(candidates, places, kRegisters + kBelowTried, kAboveTried, state.stack_pointer, false);
  candidates.look();
  return found;
}

}  // namespace heddle::trace

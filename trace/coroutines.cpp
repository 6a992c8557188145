#include "coroutines.hpp"

#include <sys/uio.h>

#include "arch/x86_64_layout.h"
#include "filter.hpp"
#include "load.hpp"
#include "plan.hpp"
#include "thread.hpp"

constinit std::uint64_t heddle_plain_sites[1u << heddle::trace::kSiteBits]{};

namespace heddle::trace {

namespace {

/// Places that are tried, in this order; the numbers are a plan's (docs/trace-format.md).
constexpr std::uint32_t kRegisters = 7, kBelowFrame = 16, kAboveStack = 40;
constexpr std::uint32_t kPlaces = kRegisters + kBelowFrame + kAboveStack;
constexpr std::uint64_t kAnyPlace = (std::uint64_t{1} << kPlaces) - 1;
constexpr std::uint32_t kRdi = 7, kFirstBelowFrame = 64, kFirstAboveStack = 128, kUnknown = 255;

constexpr std::uint32_t place_number(std::uint32_t index) {
  if (index < kRegisters) return index + 1;
  if (index < kRegisters + kBelowFrame) return index - kRegisters + kFirstBelowFrame;
  return index - kRegisters - kBelowFrame + kFirstAboveStack;
}

/// A site at which a frame was found. Who changes more than a counter holds `learning`.
struct Site {
  std::uint64_t address;  ///< 0: free
  std::uint64_t places;   ///< that have held the frame each time, as bits
  std::uint64_t last;     ///< frame
  std::uint32_t frames;   ///< in a row that were found there and differed from their predecessors
  std::uint32_t visits;   ///< likewise, of all
  std::uint32_t place;    ///< where it is, for sure; 0: not yet known
  std::uint32_t planned;  ///< where the plan says it is; 0: it does not
  std::uint32_t index_offset;  ///< of the resume index in the frame; 0: unknown
  std::uint32_t learning;
};

/// Address of a site whose module is gone: ends no search.
constexpr std::uint64_t kForgotten = 1;

/// That make a site's place sure.
constexpr std::uint32_t kEnoughFrames = 8, kEnoughVisits = 64;

constexpr unsigned kCoroutineBits = 12, kProbes = 16;
constinit Site sites[1u << kCoroutineBits]{};

/// What has no place in heddle_plain_sites because another is there: sets of eight.
constexpr unsigned kSetBits = 13, kWays = 8;
constinit std::uint64_t plain_sets[1u << kSetBits][kWays]{};

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

constinit long blind = 0;

std::uint64_t hash(std::uint64_t value, unsigned bits) {
  return value * 0x9e3779b97f4a7c15 >> (64 - bits);
}

/// The hooks' own hash: layout.cpp checks kSiteBits.
std::uint64_t& plain_site(std::uint64_t site) {
  return heddle_plain_sites[site * static_cast<std::uint64_t>(std::int64_t{HEDDLE_SITES_FACTOR}) >>
                            (64 - kSiteBits)];
}

std::uint64_t load_word(const std::uint64_t& word) {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}
void store_word(std::uint64_t& word, std::uint64_t value) {
  __atomic_store_n(&word, value, __ATOMIC_RELAXED);
}

bool is_register(std::uint32_t place) { return place <= kRegisters; }

/// Copies memory that may not be there. Bytes copied.
std::uint64_t read_safely(std::uint64_t from, void* to, std::uint64_t bytes) {
  const iovec here{to, bytes}, there{reinterpret_cast<void*>(from), bytes};
  const long result = arch::syscall(SYS_process_vm_readv, sys::pid(), &here, 1, &there, 1, 0);
  if (result == -EPERM || result == -ENOSYS) __atomic_store_n(&blind, result, __ATOMIC_RELAXED);
  return result < 0 ? 0 : static_cast<std::uint64_t>(result);
}

bool entered(const HookState& state, std::uint64_t address) {
  constexpr std::uint64_t kMostBefore = 16;  // endbr64, and the call of the hook
  if (state.function != 0) return address == state.function;
  return state.site - address <= kMostBefore;
}

/// What is known of the function that destroys; null: nothing, and if `add`, there is no more room.
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

/// Whether these are the first words of a frame with which what is entered is called.
bool frame_begins(const HookState& state, std::uint64_t first, std::uint64_t second) {
  if (entered(state, first) || entered(state, second)) return true;
  if (first != 0 || second == 0) return false;
  Pair* const pair = pair_of(second, false);
  if (pair == nullptr) return false;
  // Of a coroutine that was only seen when it was destroyed: the destroying function calls the
  // other first of all.
  const std::uint64_t resumer = load_word(pair->resumer);
  if (resumer == 0 && state.function != 0) store_word(pair->resumer, state.function);
  return resumer == 0 || entered(state, resumer);
}

/// Learns from a frame's first words who belongs to whom.
void remember_pair(const HookState& state, std::uint64_t first, std::uint64_t second) {
  if (second == 0 || !(entered(state, first) || entered(state, second))) return;
  Pair* const pair = pair_of(second, true);
  if (pair != nullptr && first != 0) store_word(pair->resumer, first);
}

bool may_be_frame(std::uint64_t value) {
  constexpr std::uint64_t kLowest = 1 << 16, kHighest = std::uint64_t{1} << 47;
  return value % 8 == 0 && value >= kLowest && value < kHighest;
}

/// Address of the word that a place on the stack is.
std::uint64_t word_of(const HookState& state, std::uint32_t place) {
  if (place < kFirstAboveStack) return state.registers[1] - 8 * (place - kFirstBelowFrame + 1);
  return state.stack_pointer + 8 * (place - kFirstAboveStack);
}

bool is_frame(const HookState& state, std::uint64_t value) {
  if (!may_be_frame(value)) return false;
  std::uint64_t words[2];
  if (read_safely(value, words, sizeof words) != sizeof words) return false;
  if (!frame_begins(state, words[0], words[1])) return false;
  remember_pair(state, words[0], words[1]);
  store_word(pages[hash(value >> 12, kPageBits)], value >> 12);
  return true;
}

/// 0: it cannot be read.
std::uint64_t value_at(const HookState& state, std::uint32_t place) {
  if (is_register(place)) return state.registers[place - 1];
  std::uint64_t value = 0;
  return read_safely(word_of(state, place), &value, sizeof value) == sizeof value ? value : 0;
}

struct Found {
  std::uint64_t frame;   ///< at the first of them; 0: nowhere
  std::uint64_t places;  ///< those that hold it
};

/// Tries the places one by one.
Found try_places(const HookState& state, std::uint64_t places) {
  Found found{};
  // By the second way only the argument says it: what is in other places is the caller's.
  constexpr std::uint64_t kArgument = std::uint64_t{1} << (kRdi - 1);
  places &= state.function == 0 ? kArgument : ~kArgument;
  for (std::uint32_t i = 0; i < kPlaces; ++i) {
    if ((places >> i & 1) == 0) continue;
    const std::uint32_t place = place_number(i);
    // A frame pointer points above the stack pointer, and not far.
    constexpr std::uint64_t kFar = 1 << 16;
    if (!is_register(place) && word_of(state, place) - state.stack_pointer >= kFar) continue;
    const std::uint64_t value = value_at(state, place);
    if (found.frame == 0 ? !is_frame(state, value) : value != found.frame) continue;
    found.frame = value;
    found.places |= std::uint64_t{1} << i;
  }
  return found;
}

Site* find_site(std::uint64_t address) {
  const std::uint64_t first = hash(address, kCoroutineBits);
  for (std::uint64_t i = 0; i < kProbes; ++i) {
    Site& site = sites[(first + i) & ((1u << kCoroutineBits) - 1)];
    const std::uint64_t known = __atomic_load_n(&site.address, __ATOMIC_ACQUIRE);
    if (known == address) return &site;
    if (known == 0) return nullptr;
  }
  return nullptr;
}

/// Null: there are too many near it; it is looked for anew each time.
Site* add_site(std::uint64_t address, const Site& about) {
  const std::uint64_t first = hash(address, kCoroutineBits);
  for (std::uint64_t i = 0; i < kProbes; ++i) {
    Site& site = sites[(first + i) & ((1u << kCoroutineBits) - 1)];
    std::uint64_t known = load_word(site.address);
    if (known != 0 && known != kForgotten) continue;
    // Taken, but found by nobody until it is complete.
    if (!__atomic_compare_exchange_n(&site.address, &known, ~std::uint64_t{0}, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      continue;
    }
    site = about;
    __atomic_store_n(&site.address, address, __ATOMIC_RELEASE);
    return &site;
  }
  return nullptr;
}

bool in_plain_set(std::uint64_t site) {
  for (const std::uint64_t& word : plain_sets[hash(site, kSetBits)]) {
    if (load_word(word) == site) return true;
  }
  return false;
}

void add_plain(std::uint64_t site) {
  std::uint64_t* const set = plain_sets[hash(site, kSetBits)];
  std::uint64_t* to = &set[hash(site ^ load_word(set[0]), 3)];
  for (unsigned i = 0; i < kWays; ++i) {
    if (load_word(set[i]) == 0) {
      to = &set[i];
      break;
    }
  }
  store_word(*to, site);
}

constexpr std::uint32_t kNoIndex = 0xffff;

std::uint32_t read_index(const Site& site, std::uint64_t frame) {
  if (site.index_offset == 0) return kNoIndex;
  std::uint16_t index = 0;
  return read_safely(frame + site.index_offset, &index, sizeof index) == sizeof index ? index
                                                                                      : kNoIndex;
}

FrameRecord record_of(const HookState& state, std::uint64_t frame, std::uint32_t index) {
  const std::uint64_t function = state.function != 0 ? state.function : state.site;
  return {first_word(RecordType::kCapture, 2, function & 0xffffffff),
          frame | std::uint64_t{index} << 48};
}

/// The site's place is not sure, or was wrong.
FrameRecord look(const HookState& state, Site& site) {
  const std::uint32_t planned = site.planned;
  const std::uint64_t in_plan = planned != 0 ? value_at(state, planned) : 0;
  const bool as_planned = is_frame(state, in_plan);
  Found found{in_plan, 0};
  if (!as_planned) {
    found = try_places(state, site.places);
    if (found.frame == 0) found = try_places(state, kAnyPlace);
  }
  std::uint32_t free = 0;
  if (!__atomic_compare_exchange_n(&site.learning, &free, 1, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED)) {
    // Another thread learns from its own visit.
  } else {
    if (!as_planned && (found.places & site.places) == 0) {
      site.places = found.frame != 0 ? found.places : kAnyPlace;
      site.frames = site.visits = 0;
      site.place = 0;
    } else {
      if (!as_planned) site.places &= found.places;
      if (found.frame != site.last) ++site.frames;
      ++site.visits;
      if (site.frames >= kEnoughFrames || site.visits >= kEnoughVisits) {
        const auto lowest = static_cast<std::uint32_t>(__builtin_ctzll(site.places | 1ull << 63));
        __atomic_store_n(&site.place, as_planned ? planned : place_number(lowest),
                         __ATOMIC_RELAXED);
      }
    }
    site.last = found.frame;
    __atomic_store_n(&site.learning, 0, __ATOMIC_RELEASE);
  }
  if (found.frame == 0) return {};
  return record_of(state, found.frame, read_index(site, found.frame));
}

/// What heddle record says of this place, or what looking finds.
FrameRecord meet(const HookState& state) {
  const std::uint32_t planned =
      loaded.coroutines == Coroutines::kPlanned ? planned_range(state.site) : kNotPlanned;
  const std::uint32_t place = planned == kNotPlanned ? kUnknown : planned >> 8 & 0xff;
  const std::uint32_t offset = planned == kNotPlanned ? 0 : 2 * (planned >> 16);
  Site about{};
  about.address = ~std::uint64_t{0};  // add_site's own, until the rest is there
  about.index_offset = offset;
  if (place != kUnknown && (place != 0 || offset != 0)) {
    const bool known = place <= kRegisters || place >= kFirstBelowFrame;
    about.planned = state.function == 0 ? kRdi : known ? place : 0;
    about.places = kAnyPlace;
    if (Site* const site = add_site(state.site, about); site != nullptr) return look(state, *site);
    return look(state, about);
  }
  if (place == kUnknown && coroutines_hidden() == 0) {
    // The module is not written down yet, so the plan may still come.
    const bool early = loaded.coroutines == Coroutines::kPlanned && planned == kNotPlanned &&
                       (!attached() || local.self->look_again > 0);
    const Found found = try_places(state, kAnyPlace);
    if (found.frame != 0) {
      about.places = found.places;
      about.last = found.frame;
      if (!early) (void)add_site(state.site, about);
      return record_of(state, found.frame, kNoIndex);
    }
    if (early) return {};
  }
  add_plain(state.site);
  store_word(plain_site(state.site), state.site);
  return {};
}

const HookSet* capturing(const HookSet* hooks) {
  if (hooks == &heddle_filtered_hooks) return &heddle_filtered_capturing_hooks;
  if (hooks == &heddle_sparse_hooks) return &heddle_sparse_capturing_hooks;
  return &heddle_capturing_hooks;
}

void capture(Process& process) {
  process.captures = true;
  process.hooks = capturing(process.hooks);
}

template <std::size_t Size>
void forget_words(std::uint64_t (&words)[Size], std::uint64_t start, std::uint64_t end) {
  for (std::uint64_t& word : words) {
    if (load_word(word) - start < end - start) store_word(word, 0);
  }
}

}  // namespace

void look_from_the_first_event() {
  if (loaded.coroutines == Coroutines::kOff) return;
  // Without a sequence, so the event itself takes the slow path.
  __atomic_store_n(&unattached.hooks, &heddle_capturing_hooks, __ATOMIC_RELAXED);
}

void choose_hooks(Process& process) {
  if (filter.active) {
    process.hooks = &heddle_filtered_hooks;
  } else if (loaded.sparse) {
    process.hooks = &heddle_sparse_hooks;
    process.header->sparse = kSparseBytes;
  }
  if (loaded.coroutines != Coroutines::kOff && !asks_for_coroutines(process)) capture(process);
}

bool asks_for_coroutines(const Process& process) {
  return loaded.coroutines == Coroutines::kPlanned && process.control != nullptr;
}

void meet_planned_coroutines(Process& process) {
  const Locked locked(process.lock);
  if (process.captures) return;
  if (!process.plan_given_up && !plan_has_coroutines()) {
    __atomic_store_n(&unattached.hooks, nullptr, __ATOMIC_RELAXED);
    return;
  }
  look_from_the_first_event();
  capture(process);
  publish_all(process);
}

long coroutines_hidden() { return __atomic_load_n(&blind, __ATOMIC_RELAXED); }

void forget_coroutines(std::uint64_t start, std::uint64_t end) {
  if (loaded.coroutines == Coroutines::kOff) return;
  forget_words(heddle_plain_sites, start, end);
  for (auto& set : plain_sets) forget_words(set, start, end);
  for (Site& site : sites) {
    if (load_word(site.address) - start < end - start) store_word(site.address, kForgotten);
  }
}

}  // namespace heddle::trace

heddle::trace::FrameRecord heddle_find_frame(const heddle::trace::HookState* state) {
  using namespace heddle::trace;
  if (local.busy) return {};
  Site* const site = find_site(state->site);
  if (site == nullptr) {
    if (!in_plain_set(state->site)) return meet(*state);
    store_word(plain_site(state->site), state->site);
    return {};
  }
  const std::uint32_t place = __atomic_load_n(&site->place, __ATOMIC_RELAXED);
  if (place == 0) return look(*state, *site);
  const std::uint64_t frame = is_register(place)
                                  ? state->registers[place - 1]
                                  : *reinterpret_cast<const std::uint64_t*>(word_of(*state, place));
  const bool readable =
      may_be_frame(frame) && load_word(pages[hash(frame >> 12, kPageBits)]) == frame >> 12;
  if (!readable && !is_frame(*state, frame)) return look(*state, *site);
  const auto* const words = reinterpret_cast<const std::uint64_t*>(frame);
  if (!frame_begins(*state, words[0], words[1])) return look(*state, *site);
  const std::uint32_t index =
      site->index_offset == 0 ? kNoIndex
                              : *reinterpret_cast<const std::uint16_t*>(frame + site->index_offset);
  return record_of(*state, frame, index);
}

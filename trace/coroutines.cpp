#include "coroutines.hpp"

#include "filter.hpp"
#include "load.hpp"
#include "plan.hpp"
#include "thread.hpp"
#include "values.hpp"
#include "words.hpp"

constinit std::uint64_t heddle_plain_sites[1u << heddle::trace::kSiteBits]{};

namespace heddle::trace {

namespace {

/// A site at which a frame was found. Who changes more than a counter holds `learning`.
struct Site {
  std::uint64_t address;  ///< 0: free
  std::uint64_t places;   ///< that have held the frame each time, as bits
  std::uint64_t last;     ///< frame
  std::uint32_t frames;   ///< in a row that were found there and differed from their predecessors
  std::uint32_t visits;   ///< likewise, of all
  Learnt learnt;          ///< where it is, as far as is known; place 0: not yet known
  std::uint32_t planned;  ///< where the plan says it is; 0: it does not
  std::uint32_t index_offset;  ///< of the resume index in the frame; 0: unknown
  std::uint32_t misses;        ///< visits without a frame
  std::uint32_t learning;
};

/// A function that was called by an address in an object once, but is none of a coroutine's: from
/// then on it is not looked at.
constexpr std::uint32_t kMostMisses = 4;

/// Address of a site whose module is gone: ends no search.
constexpr std::uint64_t kForgotten = 1;

/// So many frames, or visits, make a site's place sure.
constexpr std::uint32_t kEnoughFrames = 8, kEnoughVisits = 64;

constexpr unsigned kCoroutineBits = 12, kProbes = 16;
constinit Site sites[1u << kCoroutineBits]{};

/// Sites that have no room in heddle_plain_sites because another one is there: sets of eight.
constexpr unsigned kSetBits = 13, kWays = 8;
constinit std::uint64_t plain_sets[1u << kSetBits][kWays]{};

std::uint64_t& plain_site(std::uint64_t site) { return heddle_plain_sites[site_place(site)]; }

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
    // The entry is taken, but no hook finds it until it is complete.
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

/// The frame in a place where debug information has it, which is there to be read; 0: it is not.
std::uint64_t planned_frame(const HookState& state, std::uint32_t place) {
  const std::uint64_t frame = is_register(place)
                                  ? state.registers[place - 1]
                                  : *reinterpret_cast<const std::uint64_t*>(word_of(state, place));
  return is_frame_quickly(state, frame) ? frame : 0;
}

// Whole: a place with another one's reach would be read where nothing is.
Learnt learnt_of(const Site& site) {
  Learnt learnt;
  __atomic_load(&site.learnt, &learnt, __ATOMIC_RELAXED);
  return learnt;
}
void set_learnt(Site& site, Learnt learnt) {
  __atomic_store(&site.learnt, &learnt, __ATOMIC_RELAXED);
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
      set_learnt(site, {});
    } else {
      if (!as_planned) site.places &= found.places;
      if (found.frame != site.last) ++site.frames;
      ++site.visits;
      if (site.frames >= kEnoughFrames || site.visits >= kEnoughVisits) {
        const auto lowest = static_cast<std::uint32_t>(__builtin_ctzll(site.places | 1ull << 63));
        set_learnt(site, as_planned ? Learnt{planned, 0} : learn(state, place_number(lowest)));
      }
    }
    site.last = found.frame;
    __atomic_store_n(&site.learning, 0, __ATOMIC_RELEASE);
  }
  if (found.frame != 0) return record_of(state, found.frame, read_index(site, found.frame));
  if (__atomic_add_fetch(&site.misses, 1, __ATOMIC_RELAXED) >= kMostMisses) {
    store_word(site.address, kForgotten);
    add_plain(state.site);
  }
  return {};
}

/// The frame at the place that heddle record's plan names, or that a search finds.
FrameRecord meet(const HookState& state) {
  const std::uint32_t planned =
      loaded.coroutines == Coroutines::kPlanned ? planned_range(state.site) : kNotPlanned;
  const std::uint32_t place = planned == kNotPlanned ? kAnyFunction : planned >> 8 & 0xff;
  const std::uint32_t offset = planned == kNotPlanned ? 0 : 2 * (planned >> 16);
  Site about{};
  about.address = ~std::uint64_t{0};  // add_site's own, until the rest is there
  about.index_offset = offset;
  if (place != kAnyFunction && (place != 0 || offset != 0)) {
    const bool known = place <= kRegisters || place >= kBelowFrame;
    about.planned = state.function == 0 ? kRdi : known ? place : 0;
    about.places = kAnyPlace;
    if (Site* const site = add_site(state.site, about); site != nullptr) return look(state, *site);
    return look(state, about);
  }
  if (place == kAnyFunction && coroutines_hidden() == 0) {
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
  if (hooks == &heddle_filtered_hooks || hooks == &heddle_depth_hooks) {
    return &heddle_filtered_capturing_hooks;
  }
  if (hooks == &heddle_brief_hooks) return &heddle_brief_capturing_hooks;
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
  if (loaded.values)
    return __atomic_store_n(&unattached.hooks, &heddle_valued_hooks, __ATOMIC_RELAXED);
  if (loaded.coroutines == Coroutines::kOff) return;
  // Without a sequence, so the event itself takes the slow path.
  __atomic_store_n(&unattached.hooks, &heddle_capturing_hooks, __ATOMIC_RELAXED);
}

void choose_hooks(Process& process) {
  if (filter.active) {
    process.hooks = only_short_calls_are_left_out(filter)  ? &heddle_brief_hooks
                    : only_deep_calls_are_left_out(filter) ? &heddle_depth_hooks
                                                           : &heddle_filtered_hooks;
  } else if (loaded.sparse) {
    process.hooks = &heddle_sparse_hooks;
    process.header->sparse = kSparseBytes;
  }
  if (loaded.values) {
    process.captures = true;
    process.hooks = valued(process.hooks);
  } else if (loaded.coroutines != Coroutines::kOff && !asks_for_coroutines(process)) {
    capture(process);
  }
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

void forget_coroutines(std::uint64_t start, std::uint64_t end) {
  forget_values(start, end);
  if (loaded.coroutines == Coroutines::kOff && !loaded.values) return;
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
  const Learnt learnt = learnt_of(*site);
  if (learnt.place == 0) return look(*state, *site);
  const std::uint64_t frame = learnt.place == site->planned ? planned_frame(*state, learnt.place)
                                                            : frame_in(*state, learnt);
  if (frame == 0) return look(*state, *site);
  const std::uint32_t index =
      site->index_offset == 0 ? kNoIndex
                              : *reinterpret_cast<const std::uint16_t*>(frame + site->index_offset);
  return record_of(*state, frame, index);
}

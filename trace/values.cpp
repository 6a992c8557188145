#include "values.hpp"

#include "coroutines.hpp"
#include "filter.hpp"
#include "load.hpp"
#include "plan.hpp"
#include "this_thread.hpp"
#include "words.hpp"

namespace heddle::trace {

namespace {

/// Sites with values, each where its hash says, if it is there: addresses of struct ValueSite.
constexpr unsigned kKnownBits = 12;
constinit std::uint64_t known_sites[1u << kKnownBits]{};

const ValueSite* known_site(std::uint64_t address) {
  const std::uint64_t known = load_word(known_sites[hash(address, kKnownBits)]);
  const auto* const site = reinterpret_cast<const ValueSite*>(known);
  return site != nullptr && site->address == address ? site : nullptr;
}

void remember(const ValueSite& site) {
  store_word(known_sites[hash(site.address, kKnownBits)], reinterpret_cast<std::uint64_t>(&site));
}

/// Copies what is on the stack in use, of which no page is missing.
void copy_here(std::uint64_t from, void* to, std::uint64_t bytes) {
  const auto* const source = reinterpret_cast<const volatile char*>(from);
  for (std::uint64_t i = 0; i < bytes; ++i) static_cast<char*>(to)[i] = source[i];
}

/// How many bytes from an address on are on the thread's own stack, and in use; 0: it is elsewhere.
std::uint64_t in_use(const VisitState& state, std::uint64_t from) {
  const Thread* const self = local.self;
  if (self == nullptr) return 0;
  const std::uint64_t low = self->about.stack_low, high = self->about.stack_high;
  const bool here = state.stack_pointer >= low && state.stack_pointer < high;
  return here && from >= state.stack_pointer && from < high ? high - from : 0;
}

/// Copies memory that may not be there. Bytes copied.
std::uint64_t copy(const VisitState& state, std::uint64_t from, void* to, std::uint64_t bytes) {
  if (in_use(state, from) < bytes) return read_safely(from, to, bytes);
  copy_here(from, to, bytes);
  return bytes;
}

// By volatile words, here and above: a loop that GCC takes for memset or memcpy would become a call
// of libc's, which uses vector registers.
void clear(std::uint64_t* words, std::uint64_t count) {
  volatile std::uint64_t* const to = words;
  for (std::uint64_t i = 0; i < count; ++i) to[i] = 0;
}

/// The largest distance from the stack pointer at which a frame's words may be: farther off, the
/// base pointer is none.
constexpr std::uint64_t kFrameReach = 1 << 20;

/// The steps of a recipe, taken one after another.
class Steps {
 public:
  Steps(const VisitState& state, std::uint64_t* to) : state_(state), to_(to) {}

  void take(std::uint64_t step) {
    const auto n = static_cast<std::uint32_t>(step >> 16 & 0xffff);
    const auto which = static_cast<std::uint32_t>(step >> 8 & 0xff);
    const auto offset = static_cast<std::int32_t>(step >> 32);
    switch (static_cast<Step>(step & 0xff)) {
      case Step::kRegister:
        a_ = state_.registers[which & 15] + static_cast<std::uint64_t>(offset);
        failed_ = false;
        break;
      case Step::kLoad: {
        std::uint64_t word = 0;
        const std::uint64_t from = at(offset);
        if (failed_) break;
        failed_ = !read(from, &word, sizeof word, which == 1);
        a_ = failed_ ? from : word;  // the address that could not be read is told
        break;
      }
      case Step::kPut:
        put(failed_ ? ~a_ : n < 8 ? a_ & ((std::uint64_t{1} << 8 * n) - 1) : a_);
        ends(!failed_);
        break;
      case Step::kVector:
        put(state_.vectors[which & 7][0]);
        if (n > 8) put(state_.vectors[which & 7][1]);
        ends(true);
        break;
      case Step::kCopy:
        copy_words(at(offset), n, which == 1);
        break;
      case Step::kString:
        put_text(a_, n, failed_);
        break;
      case Step::kKeep:
        b_ = a_;
        break;
      case Step::kView:
        put_text(a_, n, failed_, &b_);
        break;
      case Step::kText: {
        const auto half = [&](unsigned shift) {
          return a_ + static_cast<std::uint64_t>(static_cast<std::int16_t>(step >> shift));
        };
        std::uint64_t text = 0, length = 0;
        const bool read_both = !failed_ && read(half(32), &text, sizeof text, false) &&
                               read(half(48), &length, sizeof length, false);
        put_text(read_both ? text : a_, n, !read_both, &length);
        break;
      }
    }
  }

  [[nodiscard]] std::uint64_t* end() const { return to_; }
  [[nodiscard]] std::uint32_t missing() const { return missing_; }
  /// Whether another value may not have room.
  [[nodiscard]] bool full(const std::uint64_t* limit, std::uint64_t step) const {
    return to_ + 3 + (step >> 16 & 0xffff) / 8 > limit;
  }

 private:
  [[nodiscard]] std::uint64_t at(std::int32_t offset) const {
    return a_ + static_cast<std::uint64_t>(offset);
  }

  /// `in_frame`: by debug information it is in the caller's frame.
  [[nodiscard]] bool read(std::uint64_t from, void* to, std::uint64_t bytes, bool in_frame) const {
    if (in_frame && from - state_.stack_pointer < kFrameReach) {
      copy_here(from, to, bytes);
      return true;
    }
    return copy(state_, from, to, bytes) == bytes;
  }

  void put(std::uint64_t word) { *to_++ = word; }

  /// A value is complete.
  void ends(bool is_there) {
    if (!is_there && value_ < 32) missing_ |= std::uint32_t{1} << value_;
    ++value_;
  }

  /// Of what cannot be read, the first word is the complement of the address: earlier recorders
  /// left zeros.
  void copy_words(std::uint64_t from, std::uint64_t bytes, bool in_frame) {
    const std::uint64_t words = (bytes + 7) / 8;
    if (words > 0) to_[words - 1] = 0;
    const bool is_there = !failed_ && read(from, to_, bytes, in_frame);
    if (!is_there) {
      clear(to_, words);
      // Where a load has failed, `a` is its address.
      if (words > 0) to_[0] = ~(failed_ ? a_ : from);
    }
    to_ += words;
    ends(is_there);
  }

  /// A word with the number of bytes behind it, and that of all, ~0 if it is not known; or, if the
  /// text cannot be read, its address. `told`: the text's length; without it, a zero ends the text.
  void put_text(std::uint64_t from, std::uint64_t most, bool failed,
                const std::uint64_t* told = nullptr) {
    constexpr std::uint64_t kUnknown = 0xffffffff;
    const bool has_length = told != nullptr;
    const std::uint64_t length = has_length ? *told : kUnknown;
    const std::uint64_t wanted = length < most ? length : most;
    auto* const text = reinterpret_cast<char*>(to_ + 1);
    std::uint64_t got = 0;
    if (!failed && wanted > 0) {
      const std::uint64_t here = in_use(state_, from);
      got = here != 0 && here < wanted ? here : wanted;
      got = copy(state_, from, text, got);
    }
    bool ended = has_length && got == length;
    for (std::uint64_t i = 0; !has_length && i < got; ++i) {
      if (text[i] == '\0') got = i, ended = true;
    }
    const bool is_there = !failed && (got > 0 || ended);
    if (!is_there) {
      put(from);
      ends(false);
      return;
    }
    const std::uint64_t all = ended ? got : has_length && length < kUnknown ? length : kUnknown;
    volatile char* const behind = text;
    for (std::uint64_t i = got; i % 8 != 0; ++i) behind[i] = 0;
    put(got | all << 32);
    to_ += (got + 7) / 8;
    ends(true);
  }

  const VisitState& state_;
  std::uint64_t* to_;
  std::uint64_t a_ = 0, b_ = 0;
  bool failed_ = false;
  std::uint32_t value_ = 0;    ///< number of values so far
  std::uint32_t missing_ = 0;  ///< those that could not be read, as bits
};

void append(const VisitState& state, const std::uint64_t* words, std::uint64_t count) {
  if (heddle_append_values(words, count)) return;
  with_this_thread([=](Process& process,
                       Thread& thread) { return append_values(process, thread, words, count); },
                   (state.kind & kEntryWay) != 0);
}

[[gnu::noinline]] void record_values(const VisitState& state, const ValueSite& site) {
  std::uint64_t record[kMostValueWords];
  const std::uint64_t first = site.recipe[0];
  Steps steps(state, record + 2);
  for (std::uint64_t i = 1; i < recipe_words(first); ++i) {
    if (steps.full(record + kMostValueWords, site.recipe[i])) return;  // no recipe asks for so much
    steps.take(site.recipe[i]);
  }
  const auto count = static_cast<std::uint64_t>(steps.end() - record) + 1;
  const bool exit = (state.kind & kExit) != 0;
  const bool entry_way = (state.kind & kEntryWay) != 0;
  const std::uint64_t entered = entry_way ? site.function : state.function;
  const std::uint64_t word =
      first_word(exit ? RecordType::kResult : RecordType::kArguments, count, entered & 0xffffffff);
  record[0] = record[count - 1] = word;
  record[1] = (first & 0xffffffff) | std::uint64_t{steps.missing()} << 32;
  append(state, record, count);
}

/// What a thread's first visit needs: its buffer, and a plan.
[[gnu::noinline]] void begin_here(bool entry_way) {
  with_this_thread([](Process&, Thread&) { return 0L; }, entry_way);
}

/// Looks for a module that dlopen may have loaded, so that its plan is there.
[[gnu::noinline]] void look_here(bool entry_way) {
  with_this_thread(
      [](Process& process, Thread& thread) {
        meet_new_module(process, thread);
        return 0L;
      },
      entry_way);
}

/// The site with values that this is, if it is one; `known`: a plan answers for it.
const ValueSite* meet(const VisitState& state, bool& known) {
  const bool entry_way = (state.kind & kEntryWay) != 0;
  const ValueSite* site = nullptr;
  if (!attached()) begin_here(entry_way);
  known = planned_site(state.site, site);
  if (!known && attached() && local.self->look_again > 0) {
    look_here(entry_way);
    known = planned_site(state.site, site);
  }
  if (site != nullptr) remember(*site);
  return site;
}

/// Whether no plan will ever tell of a site.
bool is_hopeless() {
  const Process* const current = process();
  return current == nullptr || current->plan_given_up || current->control == nullptr;
}

/// A frame's record, as the capturing hooks write it (arch/x86_64_capturing.S); whether there is
/// one.
bool visit_frame(const VisitState& state) {
  HookState hook{};
  hook.site = state.site;
  const bool entry_way = (state.kind & kEntryWay) != 0;
  hook.function = entry_way ? 0 : state.function;
  hook.stack_pointer = state.stack_pointer;
  constexpr std::uint8_t kNumbers[kRegisters] = {3, 6, 12, 13, 14, 15, 5};
  for (std::uint32_t i = 0; i < kRegisters; ++i) hook.registers[i] = state.registers[kNumbers[i]];
  const FrameRecord record = heddle_find_frame(&hook);
  if (record.first == 0) return false;
  const std::uint64_t words[] = {record.first, record.second};
  if (heddle_append_values(words, 2)) return true;
  with_this_thread(
      [&](Process& process, Thread& thread) { return append_frame(process, thread, record); },
      entry_way);
  return true;
}

}  // namespace

const HookSet* valued(const HookSet* hooks) {
  if (hooks == &heddle_filtered_hooks || hooks == &heddle_depth_hooks) {
    return &heddle_filtered_valued_hooks;
  }
  if (hooks == &heddle_brief_hooks) return &heddle_brief_valued_hooks;
  if (hooks == &heddle_sparse_hooks) return &heddle_sparse_valued_hooks;
  return &heddle_valued_hooks;
}

void forget_values(std::uint64_t start, std::uint64_t end) {
  for (std::uint64_t& word : known_sites) {
    const auto* const site = reinterpret_cast<const ValueSite*>(load_word(word));
    if (site != nullptr && site->address - start < end - start) store_word(word, 0);
  }
}

}  // namespace heddle::trace

heddle::trace::Visited heddle_visit(const heddle::trace::VisitState* state) {
  using namespace heddle::trace;
  if (local.busy) return Visited::kGoOn;
  const bool exit = (state->kind & kExit) != 0;
  bool known = true;
  const ValueSite* site = known_site(state->site);
  if (site == nullptr) site = meet(*state, known);
  // An inlined function's hook may have been moved into another's code.
  const bool entry_way = (state->kind & kEntryWay) != 0;
  if (site == nullptr || (!entry_way && site->function != state->function)) {
    if (!exit && loaded.coroutines != Coroutines::kOff) {
      // The enter of a frame reads the clock, also by --clock sparse.
      if (visit_frame(*state) && loaded.sparse && !filter.active) return Visited::kStore;
    } else if (site == nullptr && (known || is_hopeless())) {
      store_word(heddle_plain_sites[site_place(state->site)], state->site);
    }
    return Visited::kGoOn;
  }
  if (!filter.active) {
    record_values(*state, *site);
    return Visited::kGoOn;
  }
  const std::uint32_t wanted =
      heddle_wanted(state->function, state->call_site, state->stack_pointer, state->kind);
  if (wanted == 0) return Visited::kUnwanted;
  record_values(*state, *site);
  return wanted == 1 ? Visited::kStore : Visited::kStoreSlowly;
}

// Plans, which heddle record makes of the patterns: which functions of each module they match. The
// library has no symbols, so it asks (docs/trace-format.md, Plans).
#pragma once

#include "process.hpp"

namespace heddle::trace {

inline constexpr std::uint32_t kDecisions = 1 << 13;

}  // namespace heddle::trace

extern "C" {

/// The verdicts on functions that were asked for before, for the hooks: the address << 8 | the
/// verdict, at the place that the address's bits from 4 up say. Functions begin at multiples of 16,
/// so that two of one part of a program seldom have the same place.
[[gnu::visibility("hidden")]] extern std::uint64_t heddle_decisions[heddle::trace::kDecisions];
}

namespace heddle::trace {

/// The patterns' verdict on the function at an address (or with an address in it): kIncluded … of
/// filter.hpp; 0 where no plan knows it. No lock; a signal handler may interrupt it anywhere. From
/// then on it is among heddle_decisions, until a plan brings others.
[[nodiscard]] std::uint32_t planned_bits(std::uint64_t address);

/// All that the plan says of an address: the same, and from bit 8 where a coroutine's frame is
/// (docs/trace-format.md, Plans). Slower.
inline constexpr std::uint32_t kNotPlanned =
    ~0u;  ///< the address is in no module that was answered
[[nodiscard]] std::uint32_t planned_range(std::uint64_t address);

/// Further bits of planned_bits: code from which the frames of coroutines are allocated, and
/// functions that destroy coroutines.
inline constexpr std::uint32_t kMakesFrames = 16, kDestroysFrames = 32;

/// What the plans say of such code, for a first look: whether there is any, and between which
/// addresses the functions lie that destroy. Nothing while calls are filtered: what is left out
/// leaves no record.
struct FrameCode {
  bool told;
  std::uint64_t low, high;
};
extern FrameCode frame_code;

/// A call of a hook of which the plan tells what values to record, by its return address.
struct ValueSite {
  std::uint64_t address;
  /// The function as an enter records it. First way: the hook is called with it, or the values are
  /// not its.
  std::uint64_t function;
  union {
    std::uint64_t first;          ///< in the file: the number of the recipe's first word
    const std::uint64_t* recipe;  ///< words that values.hpp explains
  };
};

/// How long a recipe is, by its first word.
constexpr std::uint64_t recipe_words(std::uint64_t first) { return 1 + (first >> 32 & 0xffff); }

/// Finds the site at an address; null if the plan has none. Whether a plan knows the module there.
/// The site stays where it is.
[[nodiscard]] bool planned_site(std::uint64_t address, const ValueSite*& site);

/// Whether any plan has told of a coroutine.
[[nodiscard]] bool plan_has_coroutines();

/// Asks for the functions of the modules that were written down since it was last asked, and waits
/// for the answer, unless heddle record is gone. Signals blocked; not with the process lock or the
/// loader's held.
void ask_for_plan(Process& process);

}  // namespace heddle::trace

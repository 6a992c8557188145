// Where the frame of a C++20 coroutine is when a hook is called: registers and words of the stack
// are tried, without harm where they point nowhere.
//
// A frame begins with the addresses of the two functions that are called with it: the one that
// resumes (GCC's actor) and the one that destroys; the first is null once the coroutine is at its
// final suspend point.
#pragma once

#include <cstdint>

namespace heddle::trace {

/// A resume index that is not known, in a record.
inline constexpr std::uint16_t kNoIndex = 0xffff;

/// The state of a hook's caller: where the hook was called, and the registers.
struct HookState {
  std::uint64_t site;           ///< return address of the hook
  std::uint64_t function;       ///< first way: what is entered; second: 0, the site is in it
  std::uint64_t stack_pointer;  ///< first way: the function's own; second: as recorded
  std::uint64_t registers[7];   ///< rbx, rbp, r12, r13, r14, r15, rdi
};

/// Places, by a plan's numbers (docs/trace-format.md): registers from 1 in HookState's order, words
/// below rbp, words above the stack pointer.
inline constexpr std::uint32_t kRegisters = 7, kRdi = 7;
inline constexpr std::uint32_t kBelowFrame = 64, kAboveStack = 128, kAnyFunction = 255;

/// The places that are tried, in this order, as bits.
inline constexpr std::uint32_t kBelowTried = 16, kAboveTried = 40;
inline constexpr std::uint32_t kPlaces = kRegisters + kBelowTried + kAboveTried;
inline constexpr std::uint64_t kAnyPlace = (std::uint64_t{1} << kPlaces) - 1;

constexpr std::uint32_t place_number(std::uint32_t bit) {
  if (bit < kRegisters) return bit + 1;
  if (bit < kRegisters + kBelowTried) return bit - kRegisters + kBelowFrame;
  return bit - kRegisters - kBelowTried + kAboveStack;
}

constexpr bool is_register(std::uint32_t place) { return place <= kRegisters; }

/// Address of the word that a place on the stack is.
constexpr std::uint64_t word_of(const HookState& state, std::uint32_t place) {
  if (place < kAboveStack) return state.registers[1] - 8 * (place - kBelowFrame + 1);
  return state.stack_pointer + 8 * (place - kAboveStack);
}

/// A place that was learnt, and how far it can be read: the code behind the hook accesses the byte
/// that many bytes less one from the frame's beginning, before anything else. 0: not known.
struct Learnt {
  std::uint32_t place : 8;
  std::uint32_t reach : 24;
};
[[nodiscard]] Learnt learn(const HookState& state, std::uint32_t place);

struct Found {
  std::uint64_t frame;   ///< at the first of them; 0: nowhere
  std::uint64_t places;  ///< those that hold it, as bits
};

/// Tries the places. Some ten system calls for all of them.
[[nodiscard]] Found try_places(const HookState& state, std::uint64_t places);

/// The value in a place; 0 if it cannot be read. Takes a system call.
[[nodiscard]] std::uint64_t value_at(const HookState& state, std::uint32_t place);

/// Whether a value is the frame of the coroutine that is entered: asking the kernel, or, where the
/// page is known to hold frames, not. Quickly is for values that are a frame whenever the place is
/// reached: the page may be gone.
[[nodiscard]] bool is_frame(const HookState& state, std::uint64_t value);
[[nodiscard]] bool is_frame_quickly(const HookState& state, std::uint64_t value);

/// Whether the value of a place is the frame of the coroutine that is entered, and the value; 0: it
/// is not. What the place holds this time may point nowhere, and a word of the stack may not be
/// there: where the code does not say that they can be read, it takes a system call or two, of a
/// fifth of what copying costs.
[[nodiscard]] std::uint64_t frame_in(const HookState& state, Learnt learnt);

/// Copies memory that may not be there. Bytes copied.
[[nodiscard]] std::uint64_t read_safely(std::uint64_t from, void* to, std::uint64_t bytes);

/// Why memory cannot be looked at here (a sandbox's rules), a negated error; 0: it can.
[[nodiscard]] long coroutines_hidden();

}  // namespace heddle::trace

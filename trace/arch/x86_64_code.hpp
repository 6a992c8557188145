// What a stretch of code does with an object before it can do anything else.
#pragma once

#include <cstdint>

namespace heddle::trace::arch {

/// Where code finds the address of an object: in a register, or in a word of the stack.
struct AddressPlace {
  std::uint32_t base;  ///< a register, by the processor's number: it, or what the word is beside
  bool on_stack;       ///< the word `offset` bytes from the base, which is rsp or rbp
  std::int32_t offset;
};

inline constexpr std::uint32_t kNoAccess = ~std::uint32_t{0};

/// The offset, below 4096, of a byte of the object that the code accesses whenever it runs: with no
/// jump or call in front, and no access to memory in front but to the stack. kNoAccess: it does
/// not, or does something in front that is not known here.
[[nodiscard]] std::uint32_t certain_access(const std::uint8_t* code, std::uint64_t bytes,
                                           const AddressPlace& place);

}  // namespace heddle::trace::arch

// A decoder of the few instructions that compilers put behind a hook's call, where a coroutine's
// function begins (Intel SDM, volume 2, chapter 2). It gives up at any other.
#include "x86_64_code.hpp"

namespace heddle::trace::arch {

namespace {

constexpr std::uint32_t kRsp = 4, kRbp = 5, kNoBase = 16;

struct Instruction {
  std::uint32_t opcode;  ///< 0x0f00 and the second byte, of those of two bytes
  bool wide;             ///< REX.W: 8 bytes
  bool in_memory;        ///< the operand is in memory, at `offset` from the register `base`
  bool indexed;          ///< by a register, too
  bool elsewhere;        ///< of another segment: it may be anywhere
  std::uint32_t reg;     ///< the register operand, or more of the opcode
  std::uint32_t base;    ///< or the operand itself; kNoBase: the address is fixed
  std::int32_t offset;
};

class Reader {
 public:
  Reader(const std::uint8_t* code, std::uint64_t bytes) : next_(code), end_(code + bytes) {}

  /// False: it is not known, or its end is missing.
  bool read(Instruction& into) {
    bool small = false, elsewhere = false;
    std::uint32_t byte = take();
    for (; byte == 0x66 || byte == 0x64; byte = take()) {
      (byte == 0x66 ? small : elsewhere) = true;
    }
    std::uint32_t rex = 0;
    if ((byte & 0xf0) == 0x40) {
      rex = byte;
      byte = take();
    }
    into = {};
    into.wide = (rex & 8) != 0;
    into.opcode = byte != 0x0f ? byte : 0x0f00 | take();
    if ((into.opcode & ~7u) == 0x50) {
      into.reg = (into.opcode & 7) | (rex & 1) << 3;
      into.opcode = 0x50;
      return !over_;
    }
    const std::int32_t immediate = immediate_bytes(into.opcode, small && !into.wide);
    if (immediate < 0) return false;
    read_operands(into, rex);
    into.elsewhere = elsewhere;
    // Others than mov begin a transaction.
    if ((into.opcode == 0xc6 || into.opcode == 0xc7) && (into.reg & 7) != 0) return false;
    for (std::int32_t i = 0; i < immediate; ++i) take();
    return !over_;
  }

 private:
  /// Bytes behind the operands of an instruction; -1: it is not known.
  static std::int32_t immediate_bytes(std::uint32_t opcode, bool small) {
    switch (opcode) {
      case 0x31:
      case 0x33:  // xor
      case 0x39:
      case 0x3b:
      case 0x84:
      case 0x85:  // cmp, test
      case 0x88:
      case 0x89:
      case 0x8a:
      case 0x8b:  // mov
      case 0x8d:  // lea
      case 0x0fb6:
      case 0x0fb7:
      case 0x0fbe:
      case 0x0fbf:  // movzx, movsx
        return 0;
      case 0x80:
      case 0x83:  // add, or, and, sub, cmp …
      case 0xc6:
      case 0xf6:  // mov, test
        return 1;
      case 0x81:
      case 0xc7:
        return small ? 2 : 4;
      default:
        return -1;
    }
  }

  void read_operands(Instruction& into, std::uint32_t rex) {
    const std::uint32_t modrm = take();
    const std::uint32_t mode = modrm >> 6;
    into.reg = (modrm >> 3 & 7) | (rex & 4) << 1;
    into.base = (modrm & 7) | (rex & 1) << 3;
    into.in_memory = mode != 3;
    if (mode == 3) return;
    if ((modrm & 7) == kRsp) {
      const std::uint32_t sib = take();
      into.base = (sib & 7) | (rex & 1) << 3;
      into.indexed = ((sib >> 3 & 7) | (rex & 2) << 2) != kRsp;
    }
    if (mode == 0 && (into.base & 7) == kRbp) into.base = kNoBase;
    const std::uint32_t bytes = mode == 1 ? 1 : mode == 2 || into.base == kNoBase ? 4 : 0;
    std::uint32_t offset = 0;
    for (std::uint32_t i = 0; i < bytes; ++i) offset |= take() << 8 * i;
    into.offset = bytes == 1 ? static_cast<std::int8_t>(offset) : static_cast<std::int32_t>(offset);
  }

  std::uint32_t take() {
    if (next_ == end_) {
      over_ = true;
      return 0;
    }
    return *next_++;
  }

  const std::uint8_t* next_;
  const std::uint8_t* end_;
  bool over_ = false;
};

/// What is known to hold the object's address: registers, and a word of the stack.
class Holders {
 public:
  explicit Holders(const AddressPlace& place)
      : registers_(place.on_stack ? 0 : 1u << place.base),
        base_(place.on_stack ? place.base : kNoBase),
        offset_(place.offset),
        frame_pointer_(place.on_stack && place.base == kRbp) {}

  [[nodiscard]] bool in(std::uint32_t reg) const { return (registers_ >> reg & 1) != 0; }
  [[nodiscard]] bool in_word(const Instruction& what) const {
    return what.wide && what.base == base_ && base_ != kNoBase && what.offset == offset_;
  }
  [[nodiscard]] bool of_stack(std::uint32_t base) const {
    return base == kRsp || (base == kRbp && frame_pointer_);
  }

  void set(std::uint32_t reg, bool holds) {
    registers_ = (registers_ & ~(1u << reg)) | static_cast<std::uint32_t>(holds) << reg;
    // The word is found no more.
    if (reg == base_) base_ = kNoBase;
    if (reg == kRbp) frame_pointer_ = false;
  }

  void set_frame_pointer() {
    set(kRbp, false);
    frame_pointer_ = true;
  }

  void push() { base_ = kNoBase; }

  /// A store to the stack, which may be to a part of the word.
  void store(const Instruction& what, bool holds) {
    constexpr std::int64_t kLongest = 8;
    const std::int64_t above = std::int64_t{what.offset} - offset_;
    const bool apart = what.base == base_ && (above >= kLongest || -above >= kLongest);
    if (!apart) base_ = kNoBase;
    if (!holds || !what.wide) return;
    base_ = what.base;
    offset_ = what.offset;
  }

 private:
  std::uint32_t registers_;
  std::uint32_t base_;  ///< of the word; kNoBase: none
  std::int32_t offset_;
  bool frame_pointer_;  ///< rbp is one
};

bool is_load(std::uint32_t opcode) {
  return opcode == 0x8a || opcode == 0x8b || (opcode & 0xfff6) == 0x0fb6;
}

/// Of those with a register for the rest of the opcode, and of test and cmp.
bool only_reads(const Instruction& what) {
  constexpr std::uint32_t kCompare = 7;
  if (what.opcode == 0x80 || what.opcode == 0x81 || what.opcode == 0x83) {
    return what.reg == kCompare;
  }
  return what.opcode == 0x39 || what.opcode == 0x3b || what.opcode == 0x84 || what.opcode == 0x85 ||
         what.opcode == 0xf6;
}

bool changes_byte(std::uint32_t opcode) {
  return opcode == 0x80 || opcode == 0x88 || opcode == 0xc6;
}

/// Follows what an instruction does that does not access the object. False: that is not known.
bool follow(const Instruction& what, Holders& holders) {
  if (what.opcode == 0x50) {
    holders.push();
    return true;
  }
  if (what.opcode == 0xf6 && what.reg > 1) return false;  // not, neg, mul, div
  const bool address = what.opcode == 0x8d;
  if (what.in_memory && !address) {
    if (what.indexed) return false;
    // A fixed address is there to be read: the stack protector's word, a constant.
    const bool fixed = what.base == kNoBase && what.opcode == 0x8b;
    if (!fixed && (!holders.of_stack(what.base) || what.elsewhere)) return false;
  }
  if (only_reads(what)) return true;
  // Of a register of 8 bits, the number does not say alone of which register it is a part.
  if (what.opcode == 0x8a || (changes_byte(what.opcode) && !what.in_memory)) return false;
  if (address || is_load(what.opcode) || (what.opcode == 0x33 && what.in_memory)) {
    const bool copies = what.opcode == 0x8b && what.wide;
    const bool holds = copies && (what.in_memory ? !what.elsewhere && holders.in_word(what)
                                                 : holders.in(what.base));
    holders.set(what.reg, holds);
    return what.reg != kRsp;
  }
  if (what.opcode == 0x89 && !what.in_memory && what.reg == kRsp && what.base == kRbp) {
    holders.set_frame_pointer();
    return what.wide;
  }
  const bool holds = what.opcode == 0x89 && what.wide && holders.in(what.reg);
  if (what.in_memory) {
    holders.store(what, holds);
    return true;
  }
  const std::uint32_t changed = what.opcode == 0x33 ? what.reg : what.base;
  holders.set(changed, holds);
  // The stack pointer may be lowered, but not set.
  return changed != kRsp || what.opcode == 0x81 || what.opcode == 0x83;
}

}  // namespace

std::uint32_t certain_access(const std::uint8_t* code, std::uint64_t bytes,
                             const AddressPlace& place) {
  constexpr int kMostInstructions = 16;
  constexpr std::int32_t kFar = 4096;
  Holders holders(place);
  Reader reader(code, bytes);
  for (int i = 0; i < kMostInstructions; ++i) {
    Instruction next;
    if (!reader.read(next)) return kNoAccess;
    const bool reached = next.in_memory && !next.indexed && !next.elsewhere &&
                         next.opcode != 0x8d && next.base != kNoBase && holders.in(next.base);
    if (reached) {
      const bool inside = next.offset >= 0 && next.offset < kFar;
      return inside ? static_cast<std::uint32_t>(next.offset) : kNoAccess;
    }
    if (!follow(next, holders)) return kNoAccess;
  }
  return kNoAccess;
}

}  // namespace heddle::trace::arch

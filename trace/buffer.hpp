// The memory that a thread's records go to: a file of the process directory, mapped and shared, so
// that what is in it outlives the process.
#pragma once

#include "format.hpp"
#include "sys.hpp"

namespace heddle::trace {

struct Process;

/// One buffer file. In memory that fork wipes; belongs to one thread at a time.
struct Buffer {
  BufferHeader* header;  ///< null: none
  std::uint32_t number;
  std::uint32_t current;            ///< slot being filled
  std::uint32_t most;               ///< slots that it may come to use
  std::uint64_t mapped;             ///< bytes
  std::uint64_t written;            ///< bytes of `events-<number>`
  std::uint32_t units[kMostSlots];  ///< room of each slot that the file has, in kBlockUnit
  bool fresh[kMostSlots];           ///< not touched since it got its room
  char path[4224];                  ///< scratch

  /// Makes `<process>/buffer-<number>` with a little room, or takes the one that was made ready,
  /// and begins a block. 0 or a negated error; then nothing is left behind. Process lock held.
  [[nodiscard]] long create(Process& process);

  /// Ends the block that is being filled and begins the next: in a free slot, in a new one while
  /// there may be more, or else in the one that holds the newest block, which is written to
  /// `events-<number>` first (a flight recorder gives its oldest up). 0 or a negated error: then
  /// the block is full, and nothing can be recorded. Takes no lock.
  [[nodiscard]] long next_block(Process& process);

  /// Address in front of which records of the current block must end.
  [[nodiscard]] std::uint64_t block_end() const {
    return slot_address(current) + units[current] * kBlockUnit;
  }

  /// Where the block of a slot is.
  [[nodiscard]] std::uint64_t slot_address(std::uint32_t slot) const {
    return reinterpret_cast<std::uint64_t>(header) + kHeaderBytes + slot * kSlotBytes;
  }

 private:
  [[nodiscard]] long open(const Process& process, const char* name, int flags);
  [[nodiscard]] bool grow(Process& process, std::uint32_t slot);
  enum class Use { kSoon, kPerhaps };
  [[nodiscard]] long extend(Process& process, std::uint32_t slot, std::uint32_t to, Use use);
  [[nodiscard]] bool wait_for_free(Process& process) const;
  [[nodiscard]] bool find_free(std::uint32_t& found) const;
  [[nodiscard]] std::uint32_t full_slot(const Process& process) const;
  [[nodiscard]] long free_one(Process& process, std::uint32_t& freed);
  [[nodiscard]] long take_slot(Process& process, std::uint32_t& taken);
  [[nodiscard]] long write_out(Process& process, std::uint32_t slot);
  void begin_block(Process& process, std::uint32_t slot);
  void end_block();
};

}  // namespace heddle::trace

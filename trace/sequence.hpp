// rseq(2), restartable sequences: how a hook stores a record as if in one instruction.
#pragma once

#include <cstdint>

namespace heddle::trace {

/// The kernel's struct rseq, as far as it has been since Linux 4.18.
struct alignas(32) Rseq {
  std::uint32_t cpu_id_start;
  std::uint32_t cpu_id;
  std::uint64_t sequence;  ///< where the sequence that is being run is described
  std::uint32_t flags;
  std::uint32_t padding[3];
};

/// Where the calling thread announces the sequence that it is about to run: in the area that glibc
/// has registered (since 2.35), else, where glibc is older, in one of our own. Null where the
/// kernel has no rseq(2), glibc was told to leave it to the program
/// (GLIBC_TUNABLES=glibc.pthread.rseq=0), or the program has registered an area that we don't know:
/// then every event takes the slow path.
[[nodiscard]] std::uint64_t* sequence_of_this_thread();

}  // namespace heddle::trace

#include "sequence.hpp"

#include "sys.hpp"

// glibc's, since 2.35; its names are the whole interface, so that they are not in the header.
extern "C" {
[[gnu::weak]] extern const std::ptrdiff_t __rseq_offset;
[[gnu::weak]] extern const unsigned __rseq_size;
}

namespace heddle::trace {

namespace {

/// Thread-local memory lives as long as the kernel's thread, so it need not be unregistered.
constinit __thread Rseq own __attribute__((tls_model("initial-exec"))) = {};

/// After fork the child's one thread is registered as its parent's was.
constinit __thread bool own_registered __attribute__((tls_model("initial-exec"))) = false;

std::uint64_t* sequence(Rseq& area) { return &area.sequence; }

}  // namespace

std::uint64_t* sequence_of_this_thread() {
  if (&__rseq_size != nullptr && __rseq_size > 0) {
    auto& area = *reinterpret_cast<Rseq*>(arch::thread_pointer() +
                                          static_cast<std::uintptr_t>(__rseq_offset));
    if (static_cast<std::int32_t>(__atomic_load_n(&area.cpu_id, __ATOMIC_RELAXED)) >= 0) {
      return sequence(area);
    }
  } else if (&__rseq_size != nullptr) {
    return nullptr;  // glibc was told not to: the program wants to register its own
  }
  if (!own_registered) {
    own_registered = arch::syscall(SYS_rseq, &own, sizeof own, 0, arch::kRseqSignature) == 0;
  }
  return own_registered ? sequence(own) : nullptr;
}

}  // namespace heddle::trace

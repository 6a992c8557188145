// Everything that depends on the processor: the clock, restartable sequences, the system call, the
// thread pointer, the vector registers. The hooks themselves: x86_64_hooks.S.
#pragma once

#include <cpuid.h>

#include <cstdint>

namespace heddle::trace::arch {

/// Time-stamp counter, in ticks. Not serialising: an event is stamped within a few ns of the call.
inline std::uint64_t read_tsc() {
  std::uint32_t low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return (std::uint64_t{high} << 32) | low;
}

/// Adds one in one instruction without the lock prefix: whole for signal handlers of this thread,
/// not for other threads.
inline void increment(std::uint64_t* count) { asm volatile("incq %0" : "+m"(*count) : : "cc"); }

/// Stores `to` if `at` still holds `from`, in one instruction without the lock prefix: whole for
/// signal handlers of this thread, not for other threads. Says whether it did.
inline bool replace(std::uint64_t* at, std::uint64_t from, std::uint64_t to) {
  bool done;
  asm volatile("cmpxchgq %3, %1" : "=@ccz"(done), "+m"(*at), "+a"(from) : "r"(to) : "memory");
  return done;
}

/// The word before the code to which a restartable sequence is sent when it is interrupted; glibc
/// registers its threads with the same.
inline constexpr std::uint32_t kRseqSignature = 0x53053053;

/// The attributes of a function that aligns its stack, because it calls functions of libc's that
/// may keep vector registers there. The stack of the traced program may be misaligned: the ABI
/// forbids that, but programs that switch stacks by code of their own run so, and the hooks of the
/// first way leave the stack as they find it. An inlined function would align nothing.
#define HEDDLE_ALIGNS_STACK gnu::noinline, gnu::force_align_arg_pointer

/// A system call that touches neither errno nor libc: no cancellation point, and nothing that the
/// traced program may have put in libc's place. Returns the result or a negated error number.
template <typename... Args>
inline long syscall(long number, Args... args) {
  static_assert(sizeof...(Args) <= 6, "Linux takes six arguments");
  const long all[] = {(long)args..., 0, 0, 0, 0, 0, 0};
  register long r10 asm("r10") = all[3];
  register long r8 asm("r8") = all[4];
  register long r9 asm("r9") = all[5];
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(all[0]), "S"(all[1]), "d"(all[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

/// Address of the thread control block; glibc places it at the top of the thread's stack (not the
/// main thread's).
inline std::uintptr_t thread_pointer() {
  return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
}

/// Whether the TSC ticks at one rate through every frequency and sleep state (constant_tsc and
/// nonstop_tsc).
inline bool tsc_is_invariant() {
  std::uint32_t a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)) != 0;
}

/// The TSC's rate in Hz as the processor or the hypervisor states it; 0 = not stated.
inline std::uint64_t tsc_hz() {
  std::uint32_t a, b, c, d;
  if (__get_cpuid(0x15, &a, &b, &c, &d) && a != 0 && b != 0 && c != 0) {
    return std::uint64_t{c} * b / a;
  }
  __cpuid(1, a, b, c, d);
  const bool hypervisor = (c >> 31) != 0;
  if (!hypervisor) return 0;
  __cpuid(0x40000000, a, b, c, d);
  if (a < 0x40000010 || a > 0x4000ffff) return 0;
  // Leaf 0x40000010, agreed on by VMware and KVM: EAX is the TSC's rate in kHz.
  __cpuid(0x40000010, a, b, c, d);
  return std::uint64_t{a} * 1000;
}

/// Room for the x87, SSE, AVX and AVX-512 registers: XSAVE's area in the standard format, up to
/// component 7 (Intel SDM, volume 1, section 13.4; AMD's ends earlier). All zeros before its first
/// use: XRSTOR faults where reserved bytes of the area's header are not zero, and XSAVE does not
/// write them.
struct alignas(64) VectorRegisters {
  std::uint8_t area[2688];
};

/// Whether there is XSAVE, and the system has enabled it. Asked once: CPUID is slow in a virtual
/// machine.
inline bool has_xsave() {
  static constinit std::uint8_t known = 0;  // 1: yes, 2: no
  std::uint8_t answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (answer == 0) {
    constexpr std::uint32_t kOsXsave = 1u << 27;
    std::uint32_t a, b, c, d;
    answer = __get_cpuid(1, &a, &b, &c, &d) && (c & kOsXsave) != 0 ? 1 : 2;
    __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
  }
  return answer == 1;
}

/// 0 x87, 1 SSE, 2 AVX, 5 to 7 AVX-512.
inline constexpr std::uint32_t kVectorComponents = 0xe7;

inline void save(VectorRegisters& to) {
  if (has_xsave()) {
    asm volatile("xsave64 %0" : "+m"(to) : "a"(kVectorComponents), "d"(0) : "memory");
  } else {
    asm volatile("fxsave64 %0" : "=m"(to) : : "memory");
  }
}

inline void restore(const VectorRegisters& from) {
  if (has_xsave()) {
    asm volatile("xrstor64 %0" : : "m"(from), "a"(kVectorComponents), "d"(0) : "memory");
  } else {
    asm volatile("fxrstor64 %0" : : "m"(from) : "memory");
  }
}

}  // namespace heddle::trace::arch

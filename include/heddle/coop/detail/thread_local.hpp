#pragma once

#include "heddle/coop/ext/sanitizer.hpp"

// Thread-local variables that strands use. A fiber that has moved to another thread
// (parallel/move_to.hpp) must find the variable of the thread it is on now: no address of one may
// be kept across a switch, which is a thing that compilers do not know of.

// HEDDLE_THREAD_LOCAL, before the declaration of such a variable: each use reaches it by an offset
// from the thread's register. In code for shared libraries a compiler calls a function for its
// address otherwise, which it may keep. In code for executables it uses a constant offset by
// itself, which is one instruction less than this asks for.
#if defined(__PIC__) && !defined(__PIE__)
#define HEDDLE_THREAD_LOCAL [[gnu::tls_model("initial-exec")]]
#else
#define HEDDLE_THREAD_LOCAL
#endif

// HEDDLE_OF_THREAD(variable, "symbol"): such a variable, to be read or written, in code that is
// inlined where fibers switch. `symbol` is its name for the linker.
//
// GCC for x86-64 adds the offset to the thread's register in each instruction that reads or writes,
// so there it is the variable by itself. Clang computes the address once in a function (seen in
// 16, at -O1 and above), and keeps it over a switch. It is told the offset alone, which is the same
// on all threads, by the initial-exec model of the ELF TLS ABI; as an address relative to FS the
// address is never formed.
#if defined(__clang__) && defined(__x86_64__) && defined(__ELF__)
#define HEDDLE_OF_THREAD(variable, symbol)                                                \
  (*[]() noexcept {                                                                       \
    __UINTPTR_TYPE__ offset;                                                              \
    asm("movq " symbol "@gottpoff(%%rip), %0" : "=r"(offset));                            \
    using of_thread = __attribute__((address_space(257))) decltype(variable); /* by FS */ \
    return reinterpret_cast<of_thread*>(offset);                                          \
  }())
#else
#define HEDDLE_OF_THREAD(variable, symbol) (variable)
#endif

// HEDDLE_THREAD_ACCESS, before a function that does no more than read or write such a variable, and
// is called where fibers switch. ThreadSanitizer is told of each access by the variable's address,
// which is kept if the function is inlined; and so it is by Clang for other processors.
#if defined(HEDDLE_TSAN) || (defined(__clang__) && !defined(__x86_64__))
#define HEDDLE_THREAD_ACCESS [[gnu::noinline]]
#else
#define HEDDLE_THREAD_ACCESS [[gnu::always_inline]]
#endif

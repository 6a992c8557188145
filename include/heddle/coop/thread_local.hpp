#pragma once

// HEDDLE_THREAD_LOCAL, before the declaration of a thread-local variable that strands use: each use
// reaches it by an offset from the thread's register. In code for shared libraries a compiler calls
// a function for its address otherwise, which it may keep: a fiber that has moved to another thread
// since (parallel/move_to.hpp) would find the variable of the thread that it has left. In code for
// executables it uses a constant offset by itself, which is one instruction less than this asks
// for.
#if defined(__PIC__) && !defined(__PIE__)
#define HEDDLE_THREAD_LOCAL [[gnu::tls_model("initial-exec")]]
#else
#define HEDDLE_THREAD_LOCAL
#endif

#pragma once

#include <cstdint>
#include <type_traits>

#include "harness/model.hpp"
#include "heddle/coop/context/context.hpp"
// heddle_workload() defines HEDDLE_FIBER_ASM for a program that has the model fiber/asm, and so on.
#ifdef HEDDLE_FIBER_ASM
#include "heddle/coop/context/asm_context.hpp"
#endif
#ifdef HEDDLE_FIBER_BOOST
#include "heddle/coop/context/boost_context.hpp"
#endif
#ifdef HEDDLE_FIBER_PTH
#include "heddle/coop/context/pth_context.hpp"
#endif
#ifdef HEDDLE_FIBER_PTHREAD
#include "heddle/coop/context/pthread_context.hpp"
#endif
#ifdef HEDDLE_FIBER_SETJMP
#include "heddle/coop/context/setjmp_context.hpp"
#endif
#ifdef HEDDLE_FIBER_UCONTEXT
#include "heddle/coop/context/ucontext_context.hpp"
#endif

namespace heddle::coop {
class pthread_context;
}

namespace heddle::lab {

/// Makes `Fibers<Context>::run` known as the model `fiber/NAME` for each context that the program
/// was given among its MODELS. A workload's `fibers.cpp` has one of these.
template <class W, template <coop::context> class Fibers>
struct fiber_models {
  fiber_models() {
#ifdef HEDDLE_FIBER_ASM
    model<W>("fiber/asm", &Fibers<coop::asm_context>::run);
#endif
#ifdef HEDDLE_FIBER_BOOST
    model<W>("fiber/boost", &Fibers<coop::boost_context>::run);
#endif
#ifdef HEDDLE_FIBER_PTH
    model<W>("fiber/pth", &Fibers<coop::pth_context>::run);
#endif
#ifdef HEDDLE_FIBER_PTHREAD
    model<W>("fiber/pthread", &Fibers<coop::pthread_context>::run);
#endif
#ifdef HEDDLE_FIBER_SETJMP
    model<W>("fiber/setjmp", &Fibers<coop::setjmp_context>::run);
#endif
#ifdef HEDDLE_FIBER_UCONTEXT
    model<W>("fiber/ucontext", &Fibers<coop::ucontext_context>::run);
#endif
  }
};

/// Tells the harness of `fibers` threads beside the main one where each context is a thread, though
/// only one of them runs at a time.
template <coop::context Context>
void count_threads(region& timed, std::int64_t fibers) {
  if constexpr (std::is_same_v<Context, coop::pthread_context>) {
    timed.kernel_threads(static_cast<std::uint64_t>(fibers) + 1);
  }
}

}  // namespace heddle::lab

// makecontext, and make_fcontext of Boost.Context, so that a fiber's stack tells who made the
// fiber.
#include "contexts.hpp"

#include <ucontext.h>

#include "interpose.hpp"
#include "this_thread.hpp"

namespace heddle::trace {

namespace {

using Make = void();
constinit Make* real_makecontext = nullptr;
constinit Make* real_make_fcontext = nullptr;

void record_stack(const MadeStack& made) {
  with_this_thread([&made](Process& process, Thread& thread) {
    const std::uint64_t& position = thread.buffer.header->position;
    const bool idle = position == thread.idle_until;
    const long error = append_stack(process, thread, made);
    if (idle) thread.idle_until = position;
    return error;
  });
}

constinit Unseen unseen_make_fcontext = {};

}  // namespace

void find_makecontext() { (void)next(real_makecontext, "makecontext"); }

}  // namespace heddle::trace

using namespace heddle::trace;

extern "C" {

/// Called by our makecontext (arch/x86_64_contexts.S) before it jumps to the real one, which this
/// returns; `caller` is where its return address lies.
[[gnu::visibility("hidden")]] void* heddle_before_makecontext(const ucontext_t* context,
                                                              std::uint64_t, void* const* caller) {
  const auto low = reinterpret_cast<std::uint64_t>(context->uc_stack.ss_sp);
  record_stack({low, low + context->uc_stack.ss_size, reinterpret_cast<std::uint64_t>(caller)});
  return reinterpret_cast<void*>(next(real_makecontext, "makecontext"));
}

/// Likewise make_fcontext.
[[gnu::visibility("hidden")]] void* heddle_before_make_fcontext(std::uint64_t top,
                                                                std::uint64_t size,
                                                                void* const* caller) {
  record_stack({top - size, top, reinterpret_cast<std::uint64_t>(caller)});
  return reinterpret_cast<void*>(
      next_for(*caller, real_make_fcontext, "make_fcontext", unseen_make_fcontext));
}
}

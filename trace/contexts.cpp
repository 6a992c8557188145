// makecontext, and make_fcontext of Boost.Context, so that a fiber's stack tells who made the
// fiber.
#include "contexts.hpp"

#include <dlfcn.h>
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

/// The real make_fcontext where we do not see it: of one module, which stays as it is once `known`.
struct Unseen {
  std::uint32_t begun, known;
  const void* module;
  Make* make;
};
constinit Unseen unseen = {};

/// The make_fcontext that the code at `caller` calls where there is no recorder. A module that was
/// opened for itself alone (RTLD_LOCAL) sees functions that we do not see.
[[HEDDLE_ALIGNS_STACK]] Make* find_make_fcontext(const void* caller) {
  Dl_info info;
  const bool found = dladdr(caller, &info) != 0;
  // Acquire: what is said of the module is written.
  const bool known = __atomic_load_n(&unseen.known, __ATOMIC_ACQUIRE) != 0;
  if (found && known && unseen.module == info.dli_fbase) return unseen.make;
  Make* make = next(real_make_fcontext, "make_fcontext");
  if (make != nullptr || !found) return make;
  (void)dlerror();  // it was no error of the program's
  void* const module = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (module == nullptr) return nullptr;
  make = reinterpret_cast<Make*>(dlsym(module, "make_fcontext"));
  if (__atomic_exchange_n(&unseen.begun, 1, __ATOMIC_RELAXED) != 0) {
    dlclose(module);  // its code runs, so it stays as long as it is called
    return make;
  }
  // Not closed, so that no other module is ever at its place.
  unseen.module = info.dli_fbase;
  unseen.make = make;
  __atomic_store_n(&unseen.known, 1, __ATOMIC_RELEASE);
  return make;
}

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
  Make* real = __atomic_load_n(&real_make_fcontext, __ATOMIC_RELAXED);
  if (real == nullptr) real = find_make_fcontext(*caller);
  return reinterpret_cast<void*>(real);
}
}

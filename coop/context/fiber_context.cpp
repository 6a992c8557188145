#include "heddle/coop/context/fiber_context.h"

#include <cerrno>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "heddle/coop/context/asm_context.hpp"
#include "heddle/coop/context/pthread_context.hpp"
#include "heddle/coop/context/setjmp_context.hpp"
#include "heddle/coop/context/ucontext_context.hpp"
#include "heddle/coop/ext/sanitizer.hpp"
#if defined(HEDDLE_BACKEND_BOOST)
#include "heddle/coop/context/boost_context.hpp"
#endif
#if defined(HEDDLE_BACKEND_PTH)
#include "heddle/coop/context/pth_context.hpp"
#endif

// The handle that C sees: which mechanism, and a way to switch to one of the same.
struct FiberContext {
  FiberContext() = default;
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;
  virtual ~FiberContext() = default;
  virtual const void* backend() const noexcept = 0;
  virtual void switch_to(FiberContext& to) = 0;
};

namespace {

void call(void* callback) { reinterpret_cast<void (*)()>(callback)(); }

template <heddle::coop::context Context>
struct fiber final : FiberContext {
  static constexpr char tag = 0;  // its address names the backend

  fiber() = default;
  fiber(void (*callback)(), std::size_t stack_bytes)
      : context(&call, reinterpret_cast<void*>(callback), stack_bytes) {}

  const void* backend() const noexcept override { return &tag; }
  void switch_to(FiberContext& to) override {
    if (to.backend() != &tag) {
      heddle::coop::detail::fatal("a context switches to one of another mechanism");
    }
    Context::switch_to(context, static_cast<fiber&>(to).context);
  }

  Context context;
};

struct backend {
  std::string_view name;
  FiberContext* (*blank)();
  FiberContext* (*make)(void (*)(), std::size_t);
};

template <class Context>
constexpr backend backend_of{Context::name, []() -> FiberContext* { return new fiber<Context>(); },
                             [](void (*callback)(), std::size_t bytes) -> FiberContext* {
                               return new fiber<Context>(callback, bytes);
                             }};

constexpr backend backends[] = {
    backend_of<heddle::coop::asm_context>,     backend_of<heddle::coop::ucontext_context>,
#if !defined(HEDDLE_TSAN)
    backend_of<heddle::coop::setjmp_context>,
#endif
    backend_of<heddle::coop::pthread_context>,
#if defined(HEDDLE_BACKEND_BOOST)
    backend_of<heddle::coop::boost_context>,
#endif
#if defined(HEDDLE_BACKEND_PTH)
    backend_of<heddle::coop::pth_context>,
#endif
};

const backend* find(std::string_view name) noexcept {
  for (const backend& candidate : backends) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

thread_local const backend* selected = nullptr;
thread_local std::string last_error;

int fail(int error, const std::string& message) noexcept {
  try {
    last_error = message;
  } catch (...) {
    last_error.clear();
  }
  errno = error;
  return -1;
}

int unknown(std::string_view name) {
  std::string message = "unknown mechanism `" + std::string(name) + "`; there are:";
  for (const backend& candidate : backends) message += " " + std::string(candidate.name);
  return fail(EINVAL, message);
}

const backend* current() {
  if (selected == nullptr) {
    const char* wanted = std::getenv("HEDDLE_FIBER_BACKEND");
    selected = wanted == nullptr ? &backends[0] : find(wanted);
    if (selected == nullptr) unknown(wanted);
  }
  return selected;
}

// No exception crosses into C: each becomes errno and a sentence.
template <class Make>
FiberContext* make(Make&& body) noexcept {
  try {
    const backend* chosen = current();
    return chosen == nullptr ? nullptr : body(*chosen);
  } catch (const std::system_error& error) {
    fail(error.code().value(), error.what());
  } catch (const std::invalid_argument& error) {
    fail(EINVAL, error.what());
  } catch (const std::bad_alloc&) {
    fail(ENOMEM, "no memory for a context");
  }
  return nullptr;
}

}  // namespace

extern "C" {

int FiberContextSelectBackend(const char* name) {
  const std::string_view wanted = name == nullptr ? "" : name;
  const backend* found = find(wanted);
  if (found == nullptr) return unknown(wanted);
  selected = found;
  return 0;
}

FiberContext* FiberContextNewBlank(void) {
  return make([](const backend& chosen) { return chosen.blank(); });
}

FiberContext* FiberContextNew(void (*callback)(void), uint32_t stackSize) {
  if (callback == nullptr) {
    fail(EINVAL, "FiberContextNew needs a callback; FiberContextNewBlank makes a context without");
    return nullptr;
  }
  return make([=](const backend& chosen) { return chosen.make(callback, stackSize); });
}

// Not noexcept: the unwinding of a context that is deleted passes through here.
void FiberContextSwitchTo(FiberContext* from, FiberContext* to) {
  try {
    from->switch_to(*to);
  } catch (const std::system_error& error) {
    heddle::coop::detail::fatal(error.what());
  }
}

void FiberContextDelete(FiberContext* context) { delete context; }

const char* FiberContextError(void) { return last_error.c_str(); }
}

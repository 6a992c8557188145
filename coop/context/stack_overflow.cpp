#include "stack_overflow.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>

#include "slab_registry.hpp"

namespace heddle::coop::detail {
namespace {

struct sigaction previous;

// Null in a program that uses contexts alone.
constinit std::atomic<named_strand (*)() noexcept> running_strand = nullptr;

// Text for write(), put together without what a signal handler may not call.
class message {
 public:
  message& operator<<(std::string_view text) noexcept {
    const std::size_t copied = std::min(text.size(), sizeof text_ - length_);
    std::memcpy(text_ + length_, text.data(), copied);
    length_ += copied;
    return *this;
  }
  message& operator<<(std::uint64_t number) noexcept {
    char digits[20];
    char* first = digits + sizeof digits;
    do {
      *--first = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return *this << std::string_view(first,
                                     static_cast<std::size_t>(digits + sizeof digits - first));
  }
  void print() const noexcept {
    // Nothing can be done about a closed standard error.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text_, length_);
  }

 private:
  char text_[512];
  std::size_t length_ = 0;
};

// Null where we don't know which register it is.
const std::byte* stack_pointer(const void* context) noexcept {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const std::byte*>(registers.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const std::byte*>(registers.sp);
#else
  static_cast<void>(registers);
  return nullptr;
#endif
}

void report(const slab_registry::slot& slot, const void* context) noexcept {
  message text;
  text << "error: heddle: ";
  // A frame that is larger than what is left may have its stack pointer below the guard already.
  const std::byte* const sp = stack_pointer(context);
  const bool overflow = sp == nullptr || (sp < slot.end && sp >= slot.begin - slot.stack_bytes);
  const auto running = running_strand.load(std::memory_order_relaxed);
  const named_strand strand = running != nullptr ? running() : named_strand{};
  if (strand.number != 0) {
    text << "strand " << strand.number;
    if (!strand.name.empty()) text << " \"" << strand.name << "\"";
  } else {
    text << "a context";
  }
  if (overflow) {
    text << " overflowed its stack of " << slot.stack_bytes
         << " bytes: it calls too deeply or has too much on the stack. Give it a larger one ("
         << (strand.number != 0 ? "scheduler_options::stack_bytes, or a stack_size to spawn()"
                                : "the context's stack size")
         << ")\n";
  } else {
    text << " accessed the guard page of a stack of " << slot.stack_bytes
         << " bytes that is not its own: by a wild pointer, or one to the stack of another\n";
  }
  text.print();
}

void pass_on(int signal, siginfo_t* info, void* context) noexcept {
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else if (previous.sa_handler == SIG_DFL || info->si_code > 0) {
    // Ends the program when the access is tried again, with a core dump of the place. A signal that
    // was sent is not repeated by itself. (An access cannot be ignored.)
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    if (info->si_code <= 0) raise(signal);
  }
}

void handle(int signal, siginfo_t* info, void* context) noexcept {
  const int saved_errno = errno;
  if (info->si_code > 0) {  // by an access, not by kill()
    const slab_registry::slot slot = slab_registry::find(info->si_addr);
    if (slot.begin != nullptr && info->si_addr < slot.begin + slot.guard_bytes) {
      report(slot, context);
    }
  }
  errno = saved_errno;
  pass_on(signal, info, context);
}

// The thread's alternate stack.
class signal_stack {
 public:
  signal_stack() noexcept {
    stack_t present = {};
    if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapped == MAP_FAILED) return;  // an overflow ends the program without a message then
    stack_t ours = {};
    ours.ss_sp = mapped;
    ours.ss_size = bytes;
    if (sigaltstack(&ours, nullptr) == 0) {
      mapped_ = mapped;
    } else {
      munmap(mapped, bytes);
    }
  }
  ~signal_stack() {
    if (mapped_ == nullptr) return;
    stack_t present = {};
    if (sigaltstack(nullptr, &present) == 0 && present.ss_sp == mapped_) {
      stack_t none = {};
      none.ss_flags = SS_DISABLE;
      sigaltstack(&none, nullptr);
    }
    munmap(mapped_, bytes);
  }
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;

 private:
  static constexpr std::size_t bytes = 64 * 1024;  // for the handlers that come after ours, too
  void* mapped_ = nullptr;
};

}  // namespace

void report_overflows() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction ours = {};
    ours.sa_sigaction = &handle;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGSEGV, nullptr, &previous);  // before ours can run
    sigaction(SIGSEGV, &ours, nullptr);
  });
}

void name_overflows_by(named_strand (*running)() noexcept) noexcept {
  running_strand.store(running, std::memory_order_relaxed);
}

void provide_signal_stack() noexcept {
  static thread_local const signal_stack provided;
  static_cast<void>(provided);
}

}  // namespace heddle::coop::detail

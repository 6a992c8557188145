// Calls in known shapes, for the filter; the first argument chooses one. Names are C's, so that a
// test needs no demangler.
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define FUNCTION extern "C" __attribute__((noinline, noclone, used)) void
#define PLAIN extern "C" __attribute__((no_instrument_function))
#define KEEP asm volatile("" ::: "memory")  // no tail call, no merging

static jmp_buf back;
static int depth, turn;
static volatile sig_atomic_t signals;

FUNCTION leaf() { KEEP; }
FUNCTION pair() {
  leaf();
  leaf();
  KEEP;
}
FUNCTION middle() {
  pair();
  leaf();
  KEEP;
}
FUNCTION tail() { leaf(); }  // from -O2 a jump, or a tail-called exit hook
FUNCTION recurse() {
  if (depth-- > 0) {
    leaf();
    recurse();
  }
  KEEP;
}
FUNCTION grow() {
  void* const room = __builtin_alloca(static_cast<size_t>(64 + depth * 16));
  asm volatile("" : : "r"(room) : "memory");
  leaf();
  if (depth-- > 0) grow();
  KEEP;
}
FUNCTION large() {  // its frame reaches below that of whatever was called before
  char room[4000];
  asm volatile("" : : "r"(room) : "memory");
  leaf();
  KEEP;
}
FUNCTION leave() {
  leaf();
  longjmp(back, 1);
}
FUNCTION nested_leave() {
  leave();
  KEEP;
}
FUNCTION jumps() {
  for (turn = 0; turn < 2; turn++) {
    if (setjmp(back) == 0) nested_leave();
    large();
    leaf();
  }
  KEEP;
}
FUNCTION throws() {
  leaf();
  throw 1;
}
FUNCTION through() {
  throws();
  KEEP;
}
FUNCTION catches() {
  for (turn = 0; turn < 2; turn++) {
    try {
      through();
    } catch (int) {
      leaf();
    }
    pair();
  }
  KEEP;
}
// Their return addresses are below those of functions without parameters on the stack; of seven,
// the word above the last is not written.
FUNCTION seven(long, long, long, long, long, long, long) { KEEP; }
FUNCTION eight(long, long, long, long, long, long, long, long) {
  leaf();
  KEEP;
}
FUNCTION spills() {
  for (turn = 0; turn < 2; turn++) {
    try {
      through();
    } catch (int) {
      signals = signals + 1;
    }
    seven(1, 2, 3, 4, 5, 6, 7);
    eight(1, 2, 3, 4, 5, 6, 7, 8);
  }
  KEEP;
}
FUNCTION slow() {
  const timespec time = {0, 60'000'000};
  nanosleep(&time, nullptr);
  KEEP;
}
FUNCTION waits() {
  leaf();
  slow();
  leaf();
  KEEP;
}
FUNCTION mixed() {
  pair();
  waits();
  middle();
  KEEP;
}
FUNCTION handled() { KEEP; }
extern "C" __attribute__((noinline)) void on_signal(int) {
  signals = signals + 1;
  handled();
  KEEP;
}
FUNCTION busy() {
  for (int i = 0; i < 20; i++) leaf();
  KEEP;
}

PLAIN void with_signals(void (*work)()) {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often = {{0, 40}, {0, 40}};
  setitimer(ITIMER_REAL, &often, nullptr);
  // 160 million events at most, where the timer hardly fires.
  for (int rounds = 0; signals < 1000; ++rounds) {
    if (rounds == 4'000'000) {
      fputs("the timer fired fewer than 1000 times\n", stderr);
      exit(3);
    }
    work();
  }
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
}
FUNCTION interrupted() {
  leaf();
  raise(SIGUSR1);
  leaf();
  KEEP;
}
// The alternate stack is above the thread's: a stack pointer there is no sign of a return.
constexpr size_t kHalf = 1 << 18;
alignas(4096) static char stacks[2 * kHalf];
static bool handler_jumps, handler_disarms;
static sigjmp_buf before_signal;
FUNCTION on_another_stack(int) { KEEP; }
// SS_AUTODISARM: the stack is the kernel's again when the handler returns.
PLAIN void be_interrupted_again() {
  static char stack[kHalf];
  const stack_t another = {.ss_sp = stack, .ss_flags = 0, .ss_size = kHalf};
  sigaltstack(&another, nullptr);
  struct sigaction action = {};
  action.sa_handler = on_another_stack;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  raise(SIGUSR2);
}
FUNCTION on_own_stack(int) {
  handled();
  if (handler_jumps) siglongjmp(before_signal, 1);
  if (handler_disarms) be_interrupted_again();
  handled();
  KEEP;
}
PLAIN void be_interrupted(char* stack) {
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = kHalf;
  if (handler_disarms) alternate.ss_flags = static_cast<int>(1u << 31);  // SS_AUTODISARM
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = on_own_stack;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  if (sigsetjmp(before_signal, 1) == 0) interrupted();
  if (handler_disarms) interrupted();
  handler_jumps ? pair() : leaf();
  alternate.ss_flags = SS_DISABLE;
  sigaltstack(&alternate, nullptr);
}
PLAIN void* with_alternate(void*) {
  be_interrupted(stacks + kHalf);
  return nullptr;
}
PLAIN void with_alternate_within() {
  char stack[kHalf];
  asm volatile("" : : "r"(stack) : "memory");
  be_interrupted(stack);
}
// Stacks that are too far from the thread's, and every second one from the others, for records of
// both to have the same base.
constexpr size_t kStackBytes = 16 << 10, kFar = 64 << 20;
static char* far_stacks;
PLAIN char* far_stack(int number) {
  return far_stacks + static_cast<size_t>(number % 2) * kFar +
         static_cast<size_t>(number / 2) * kStackBytes;
}
PLAIN bool map_far_stacks() {
  void* const memory = mmap(nullptr, 2 * kFar, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  far_stacks = static_cast<char*>(memory);
  return memory != MAP_FAILED;
}
PLAIN __attribute__((noinline)) void call_on(char* stack, void (*function)()) {
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %0, %%rsp\n\t"
      "call *%1\n\t"
      "movq %%rbx, %%rsp"
      :
      : "r"(stack + kStackBytes), "r"(function)
      : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory");
}
static volatile int hops;  // the compiler does not see that call_on leads back here
FUNCTION chain() {
  if (hops > 0) {
    hops = hops - 1;
    call_on(far_stack(hops), chain);
  } else {
    waits();
  }
  KEEP;
}
FUNCTION twice() {
  const int level = hops;
  for (int i = 0; i < 2 && level > 0; i++) {
    hops = level - 1;
    call_on(far_stack(level), twice);
  }
  KEEP;
}

// A handler is called once, after so many instructions of a hook, or else in front of the hook's
// first system call, which may block signals.
static struct Interruption {
  bool exit;          // of an exit hook; or of an enter hook
  bool behind_base;   // the interrupted call has called something on a far stack
  bool on_far_stack;  // the handler; or what it calls
  volatile long steps;
  volatile bool done;
} interruption;
// The handler makes a child, which goes on where the hook was interrupted, and ends soon.
static bool handler_forks, in_child;
PLAIN void fork_here() {
  const pid_t child = fork();
  in_child = child == 0;
  if (in_child) return;
  int status = 1;
  if (waitpid(child, &status, 0) == child && status == 0) return;
  fputs("a child did not end well\n", stderr);
  exit(3);
}
FUNCTION handled_far() {
  call_on(far_stack(0), handled);
  KEEP;
}
PLAIN void on_step(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* const next = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  const bool system_call = next[0] == 0x0f && next[1] == 0x05;
  interruption.steps = interruption.steps - 1;
  if (interruption.steps > 0 && !system_call) return;
  registers[REG_EFL] &= ~0x100;
  interruption.done = true;
  if (handler_forks) return fork_here();
  interruption.on_far_stack ? handled() : handled_far();
}
// The trap flag: from here on each instruction is followed by a SIGTRAP.
PLAIN __attribute__((always_inline)) inline void set_steps(bool on) {
  unsigned long flags = __builtin_ia32_readeflags_u64();
  __builtin_ia32_writeeflags_u64(on ? flags | 0x100 : flags & ~0x100ul);
}
FUNCTION stepped() {
  if (interruption.behind_base) call_on(far_stack(2), handled);
  if (interruption.exit) set_steps(true);
  KEEP;
}
// The handler is called at every so many instructions, from this one on: by the program's argument.
static long every_steps = 1, first_step = 1;
// Returns how often the handler was called.
PLAIN long with_steps(bool exit, bool behind_base, bool on_far_stack) {
  struct sigaction action = {};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO | (on_far_stack ? SA_ONSTACK : 0);
  sigaction(SIGTRAP, &action, nullptr);
  long times = 1;
  for (long steps = first_step;; steps += every_steps, times++) {
    interruption = {exit, behind_base, on_far_stack, steps, false};
    if (!exit) set_steps(true);
    stepped();
    set_steps(false);
    if (in_child) _exit(0);
    if (!interruption.done || interruption.steps > 0) return times;
  }
}
// Counts the instructions of a call whose hooks make no system call, the hooks' among them.
static volatile long instructions;
PLAIN void on_instruction(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* const next = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  instructions = instructions + 1;
  if (next[0] != 0x0f || next[1] != 0x05) return;
  registers[REG_EFL] &= ~0x100;
  instructions = -1'000'000'000;
}
FUNCTION costly() { KEEP; }
FUNCTION costs() {
  costly();
  // The first two times, the hooks learn what is to be done with it, also those that go on where a
  // step has interrupted a sequence.
  for (int i = 0; i < 2; ++i) {
    instructions = 0;
    set_steps(true);
    costly();
    set_steps(false);
  }
  KEEP;
}
PLAIN void count_costs(int) {
  struct sigaction action = {};
  action.sa_sigaction = on_instruction;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  costs();
}
static long interruptions;
PLAIN void interrupt_each(int) {
  if (handler_forks) {
    interruptions = with_steps(false, false, false) + with_steps(true, false, false);
    return;
  }
  for (int i = 0; i < 2; i++) {
    const bool on_far_stack = i == 1;
    interruptions += with_steps(false, false, on_far_stack);
    interruptions += with_steps(true, false, on_far_stack);
    interruptions += with_steps(true, true, on_far_stack);
  }
}
// Has the thread's handlers run on this stack, and calls a function, from a handler or not.
PLAIN void call_with_alternate(char* stack, size_t bytes, void (*function)(int), bool handled) {
  const stack_t alternate = {.ss_sp = stack, .ss_flags = 0, .ss_size = bytes};
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = function;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  handled ? void(raise(SIGUSR1)) : function(0);
}
PLAIN void call_with_array(void (*function)(int), bool handled) {
  char stack[kHalf];
  asm volatile("" : : "r"(stack) : "memory");
  call_with_alternate(stack, kHalf, function, handled);
}
static ucontext_t thread_context, fiber_context;
FUNCTION on_fiber() {
  leaf();
  swapcontext(&fiber_context, &thread_context);
  pair();
  KEEP;
}
FUNCTION switches() {
  leaf();
  swapcontext(&thread_context, &fiber_context);
  leaf();
  swapcontext(&thread_context, &fiber_context);
  leaf();
  KEEP;
}
FUNCTION resumes() {
  leaf();
  swapcontext(&thread_context, &fiber_context);
  leaf();
  KEEP;
}
PLAIN void make_fiber(void* stack, void (*function)()) {
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = stack;
  fiber_context.uc_stack.ss_size = kHalf;
  fiber_context.uc_link = &thread_context;
  makecontext(&fiber_context, function, 0);
}
PLAIN void start_fiber() { on_fiber(); }
PLAIN void* with_fiber(void* stack) {
  make_fiber(stack, start_fiber);
  switches();
  return nullptr;
}
FUNCTION stays() {
  swapcontext(&fiber_context, &thread_context);
  KEEP;
}
PLAIN void start_staying() { stays(); }
PLAIN void start_leaf() { leaf(); }
// A fiber is gone, and its stack with it, inside a call. The first two calls end: then the hooks
// know what is to be done with a third. Another fiber's stack lies below.
PLAIN bool leave_fiber() {
  void* const memory =
      mmap(nullptr, 2 * kHalf, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  char* const stack = static_cast<char*>(memory) + kHalf;
  for (int i = 0; i < 3; i++) {
    make_fiber(stack, start_staying);
    swapcontext(&thread_context, &fiber_context);
    if (i < 2) swapcontext(&thread_context, &fiber_context);
  }
  munmap(stack, kHalf);
  make_fiber(memory, start_leaf);
  swapcontext(&thread_context, &fiber_context);
  return true;
}
PLAIN void throws_unrecorded() {
  try {
    throw 1;
  } catch (int) {
    signals = signals + 1;
  }
}
PLAIN void with_fiber_in_array() {
  char stack[kHalf];
  make_fiber(stack, throws_unrecorded);
  resumes();
}
PLAIN void* in_thread(void*) {
  for (int i = 0; i < 1000; i++) middle();
  return nullptr;
}

PLAIN int main(int, char** arguments) {
  const char* const what = arguments[1];
  if (strcmp(what, "calls") == 0) {
    middle();
    pair();
    leaf();
  } else if (strcmp(what, "tail") == 0) {
    tail();
    middle();
  } else if (strcmp(what, "recurse") == 0) {
    depth = 3;
    recurse();
    leaf();
  } else if (strcmp(what, "grow") == 0) {
    depth = 3;
    grow();
    pair();
  } else if (strcmp(what, "jumps") == 0) {
    jumps();
    pair();
  } else if (strcmp(what, "catches") == 0) {
    catches();
    leaf();
  } else if (strcmp(what, "spills") == 0) {
    spills();
    leaf();
  } else if (strcmp(what, "mixed") == 0) {
    mixed();
    pair();
  } else if (strcmp(what, "signals") == 0) {
    with_signals(busy);
    middle();
  } else if (strcmp(what, "hops") == 0) {
    if (!map_far_stacks()) return 1;
    hops = 2;
    twice();
    hops = 100;
    chain();
  } else if (strncmp(what, "steps", strlen("steps")) == 0) {
    if (!map_far_stacks()) return 1;
    if (const char* const third = strchr(what, ':'); third != nullptr) {
      every_steps = 3;
      first_step = 1 + atol(third + 1);
    }
    handler_forks = strncmp(what, "steps-forked", strlen("steps-forked")) == 0;
    if (strncmp(what, "steps-handled", strlen("steps-handled")) == 0) {
      call_with_alternate(stacks, kHalf, interrupt_each, true);
    } else {
      call_with_alternate(far_stack(4), kStackBytes, interrupt_each, false);
    }
    printf("%ld\n", interruptions);
  } else if (strcmp(what, "threads") == 0) {
    pthread_t threads[4];
    for (pthread_t& thread : threads) pthread_create(&thread, nullptr, in_thread, nullptr);
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  } else if (strcmp(what, "alternate-within") == 0) {
    with_alternate_within();
  } else if (strncmp(what, "alternate", strlen("alternate")) == 0) {
    handler_jumps = strcmp(what, "alternate-left") == 0;
    handler_disarms = strcmp(what, "alternate-disarmed") == 0;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stacks, kHalf);
    pthread_create(&thread, &attributes, with_alternate, nullptr);
    pthread_join(thread, nullptr);
  } else if (strncmp(what, "costs", strlen("costs")) == 0) {
    const bool handled = strstr(what, "handled") != nullptr;
    if (strstr(what, "array") != nullptr) {
      call_with_array(count_costs, handled);
    } else {
      call_with_alternate(stacks, kHalf, count_costs, handled);
    }
    printf("%ld\n", instructions);
  } else if (strcmp(what, "fiber-below") == 0) {
    with_fiber(stacks);
  } else if (strcmp(what, "fiber-above") == 0) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stacks, kHalf);
    pthread_create(&thread, &attributes, with_fiber, stacks + kHalf);
    pthread_join(thread, nullptr);
  } else if (strcmp(what, "fiber-gone") == 0) {
    if (!leave_fiber()) return 1;
  } else if (strcmp(what, "fiber-in-array") == 0) {
    with_fiber_in_array();
  } else if (strcmp(what, "fork") == 0) {
    pair();
    const pid_t child = fork();
    if (child == 0) {
      middle();
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  } else if (strcmp(what, "open") == 0) {
    pair();
    void* plugin = dlopen("plugin.so", RTLD_NOW);
    if (plugin == nullptr) return 1;
    reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_work"))();
    dlclose(plugin);
    pair();
  } else {
    return 2;
  }
  return 0;
}

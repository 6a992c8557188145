// Calls in known shapes, for the filter; the first argument chooses one. Names are C's, so that a
// test needs no demangler.
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
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
  while (signals < 1000) work();
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
alignas(4096) static char stacks[2 << 18];
PLAIN void* with_alternate(void*) {
  stack_t alternate = {};
  alternate.ss_sp = stacks + (1 << 18);
  alternate.ss_size = 1 << 18;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, nullptr);
  interrupted();
  leaf();
  return nullptr;
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
  } else if (strcmp(what, "mixed") == 0) {
    mixed();
    pair();
  } else if (strcmp(what, "signals") == 0) {
    with_signals(busy);
    middle();
  } else if (strcmp(what, "threads") == 0) {
    pthread_t threads[4];
    for (pthread_t& thread : threads) pthread_create(&thread, nullptr, in_thread, nullptr);
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  } else if (strcmp(what, "alternate") == 0) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stacks, 1 << 18);
    pthread_create(&thread, &attributes, with_alternate, nullptr);
    pthread_join(thread, nullptr);
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

// Threads that are off their processors for known reasons: stretches SCENARIO.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The function is told of.
#define NOT_INLINED __attribute__((noinline))

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static int pipe_ends[2], both[2];

static void require(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "stretches: %s\n", what);
  exit(1);
}

NOT_INLINED static void nap(long ms) {
  struct timespec left = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0) {
  }
}

// Until a thread sleeps in the kernel, three times in a row.
static void until_asleep(pid_t pid, pid_t tid) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
  for (int times = 0; times < 3; nap(5)) {
    FILE* file = fopen(path, "r");
    require(file != NULL, "the thread is gone");
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    const char* name_end = strrchr(text, ')');
    times = name_end != NULL && name_end[2] == 'S' ? times + 1 : 0;
  }
}

static atomic_int tid;

static void begin(void* (*routine)(void*), const char* name, pthread_t* thread) {
  atomic_store(&tid, 0);
  require(pthread_create(thread, NULL, routine, NULL) == 0, "no thread");
  pthread_setname_np(*thread, name);
}

static void until_told(void) {
  while (atomic_load(&tid) == 0) sched_yield();
}

// 50 ms in nanosleep.
NOT_INLINED static void sleeper(void) { nap(50); }

// A pipe whose other end is written to 50 ms after the reader sleeps.
NOT_INLINED static void read_letter(void) {
  char letter;
  require(read(pipe_ends[0], &letter, 1) == 1, "no letter");
}

static void* reader(void* unused) {
  atomic_store(&tid, gettid());
  read_letter();
  return unused;
}

static void piped(void) {
  require(pipe(pipe_ends) == 0, "no pipe");
  pthread_t thread;
  begin(reader, "reader", &thread);
  until_told();
  until_asleep(getpid(), tid);
  nap(50);
  require(write(pipe_ends[1], "a", 1) == 1, "not written");
  pthread_join(thread, NULL);
}

// A mutex whose holder sleeps 50 ms after the other waits.
NOT_INLINED static void want_ledger(void) {
  pthread_mutex_lock(&ledger);
  pthread_mutex_unlock(&ledger);
}

static void* wanting(void* unused) {
  atomic_store(&tid, gettid());
  want_ledger();
  return unused;
}

static void locked(void) {
  pthread_mutex_lock(&ledger);
  pthread_t thread;
  begin(wanting, "wanting", &thread);
  until_told();
  until_asleep(getpid(), tid);
  nap(50);
  pthread_mutex_unlock(&ledger);
  pthread_join(thread, NULL);
}

// Processor time of the thread.
__attribute__((no_instrument_function)) static long used_ms(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static atomic_int spinning;

NOT_INLINED static void spin(void) {
  while (used_ms() < 100) {
  }
}

// Both spin, on one processor, until each has had 100 ms of it: so each waits for the other.
static void* competitor(void* unused) {
  atomic_fetch_add(&spinning, 1);
  while (atomic_load(&spinning) < 2) sched_yield();
  spin();
  return unused;
}

static void preempted(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  require(sched_setaffinity(0, sizeof one, &one) == 0, "no affinity");
  pthread_t first, second;
  begin(competitor, "first", &first);
  begin(competitor, "second", &second);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
}

// A socket, poll, and a child, each waited for at least 30 ms.
NOT_INLINED static void hear(void) {
  char letter;
  require(recv(both[0], &letter, 1, 0) == 1, "nothing heard");
}

NOT_INLINED static void look(void) {
  struct pollfd file = {pipe_ends[0], POLLIN, 0};
  require(poll(&file, 1, 30) == 0, "there is something");
}

static void* speaker(void* unused) {
  until_asleep(getpid(), getpid());
  nap(30);
  require(send(both[1], "a", 1, 0) == 1, "not said");
  return unused;
}

NOT_INLINED static void await_child(pid_t child) {
  require(waitpid(child, NULL, 0) == child, "no child");
}

static void others(void) {
  require(pipe(pipe_ends) == 0, "no pipe");
  require(socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0, "no sockets");
  pthread_t thread;
  begin(speaker, "speaker", &thread);
  hear();
  pthread_join(thread, NULL);
  look();
  const pid_t child = fork();
  if (child == 0) {
    until_asleep(getppid(), getppid());
    nap(30);
    _exit(0);
  }
  await_child(child);
}

// Blocked until it is killed, in a call into the kernel that never returns.
NOT_INLINED static void hang(void) {
  char letter;
  (void)!read(pipe_ends[0], &letter, 1);
}

static void* killer(void* unused) {
  until_asleep(getpid(), getpid());
  nap(50);
  kill(getpid(), SIGKILL);
  return unused;
}

static void killed(void) {
  require(pipe(pipe_ends) == 0, "no pipe");
  pthread_t thread;
  begin(killer, "killer", &thread);
  hang();
}

int main(int count, char** words) {
  const struct {
    const char* name;
    void (*run)(void);
  } all[] = {{"sleeper", sleeper},     {"piped", piped},   {"locked", locked},
             {"preempted", preempted}, {"others", others}, {"killed", killed}};
  for (size_t i = 0; count == 2 && i < sizeof all / sizeof *all; ++i) {
    if (strcmp(words[1], all[i].name) != 0) continue;
    all[i].run();
    return 0;
  }
  fprintf(stderr, "stretches SCENARIO\n");
  return 2;
}

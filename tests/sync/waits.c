// Threads that wait for one another in known ways: waits SCENARIO. Prints, for each lock, how many
// operations got what they wanted, as it has counted them itself.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 500 };

// The function is told of.
#define NOT_INLINED __attribute__((noinline))

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t chain[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t atlas = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t gate;
static pthread_spinlock_t top;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t tokens;
static mtx_t inkwell;
static cnd_t ink;
static once_flag first = ONCE_FLAG_INIT;

static atomic_long taken, given, ready;
static long inside;
static int told;

static void nap(long ms) {
  struct timespec left = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0) {
  }
}

static void require(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "waits: %s\n", what);
  exit(1);
}

static void until(atomic_long* number, long value) {
  while (atomic_load(number) < value) sched_yield();
}

// A thread tells its number, so that another can wait until it sleeps.
static void tell(atomic_long* tid) { atomic_store(tid, gettid()); }

// Until a thread that has nothing else to do than to wait sleeps in the kernel, three times in a
// row: the recorder may have had to wait for something once.
static void until_asleep(atomic_long* tid) {
  until(tid, 1);
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%ld/stat", atomic_load(tid));
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

static atomic_long tids[THREADS];

static void* (*routines[THREADS])(void*);

NOT_INLINED static void run(int threads) {
  pthread_t all[THREADS];
  for (long i = 0; i < threads; ++i)
    require(pthread_create(&all[i], NULL, routines[i], (void*)i) == 0, "no thread");
  for (int i = 0; i < threads; ++i) require(pthread_join(all[i], NULL) == 0, "no join");
}

// A holder sleeps 50 ms under a mutex that another thread waits for.
static void* sleep_under(void* number) {
  (void)number;
  pthread_mutex_lock(&ledger);
  ++taken;
  atomic_store(&ready, 1);
  until_asleep(&tids[1]);
  nap(50);
  pthread_mutex_unlock(&ledger);
  return NULL;
}

static void* wait_behind(void* number) {
  (void)number;
  until(&ready, 1);
  tell(&tids[1]);
  pthread_mutex_lock(&ledger);
  ++taken;
  pthread_mutex_unlock(&ledger);
  return NULL;
}

static void holder(void) {
  routines[0] = sleep_under;
  routines[1] = wait_behind;
  run(2);
  printf("mutex ledger %ld\n", taken);
}

// Many threads, one mutex, and work under it.
static void* convoy_member(void* number) {
  (void)number;
  for (int i = 0; i < ROUNDS; ++i) {
    pthread_mutex_lock(&ledger);
    require(inside++ == 0, "two at a time");
    if (i % 50 == 0) sched_yield();
    --inside;
    ++taken;
    pthread_mutex_unlock(&ledger);
    if (i % 7 == 0 && pthread_mutex_trylock(&ledger) == 0) {
      ++taken;
      pthread_mutex_unlock(&ledger);
    }
  }
  return NULL;
}

static void convoy(void) {
  for (int i = 0; i < THREADS; ++i) routines[i] = convoy_member;
  run(THREADS);
  printf("mutex ledger %ld\n", taken);
}

// A signal comes before its only waiter, who waits for ever.
static void* wait_for_news(void* number) {
  (void)number;
  pthread_mutex_lock(&ledger);
  until(&ready, 1);
  tell(&tids[0]);
  pthread_cond_wait(&news, &ledger);
  pthread_mutex_unlock(&ledger);
  return NULL;
}

static void* tell_too_early(void* number) {
  (void)number;
  pthread_cond_signal(&news);
  atomic_store(&ready, 1);
  return NULL;
}

// When these threads wait, and nothing more will happen.
static void die(int threads) {
  for (int i = 0; i < threads; ++i) until_asleep(&tids[i]);
  raise(SIGKILL);
}

static void missed(void) {
  pthread_t waiter, teller;
  pthread_create(&waiter, NULL, wait_for_news, NULL);
  pthread_create(&teller, NULL, tell_too_early, NULL);
  pthread_join(teller, NULL);
  die(1);
}

// Three signals come for one waiter, which cannot go on until the last one: the first wakes it.
static void* ring_thrice(void* number) {
  atomic_store(&ready, 1);
  until_asleep(&tids[0]);
  pthread_mutex_lock(&ledger);
  for (int i = 0; i < 3; ++i) pthread_cond_signal(&news);
  pthread_mutex_unlock(&ledger);
  return number;
}

static void rung(void) {
  routines[0] = wait_for_news;
  routines[1] = ring_thrice;
  run(2);
  printf("condition news 1\n");
}

// Three threads, three mutexes, each takes two of them in turn.
static void* deadly(void* number) {
  const long i = (long)number;
  pthread_mutex_lock(&chain[i]);
  atomic_fetch_add(&ready, 1);
  until(&ready, 3);
  tell(&tids[i]);
  pthread_mutex_lock(&chain[(i + 1) % 3]);
  return NULL;
}

static void deadlock(void) {
  pthread_t all[3];
  for (long i = 0; i < 3; ++i) pthread_create(&all[i], NULL, deadly, (void*)i);
  die(3);
}

// An idle pipeline: each stage has taken the token last that it waits for again, which another
// thread gives it.
static sem_t orders, halves, receipts;

static void* cut(void* number) {
  for (int i = 0; i < 2; ++i) {
    if (i == 1) tell(&tids[0]);
    sem_wait(&orders);
    sem_post(&halves);
    sem_wait(&receipts);
  }
  return number;
}

static void* sew(void* number) {
  for (int i = 0; i < 2; ++i) {
    if (i == 1) tell(&tids[1]);
    sem_wait(&halves);
    sem_post(&receipts);
  }
  return number;
}

static void idle(void) {
  sem_init(&orders, 0, 0);
  sem_init(&halves, 0, 0);
  sem_init(&receipts, 0, 0);
  pthread_t all[2];
  pthread_create(&all[0], NULL, cut, NULL);
  pthread_create(&all[1], NULL, sew, NULL);
  sem_post(&orders);
  die(2);
}

// The only token is taken, and no other was ever given: whether another thread is to give one is
// not recorded.
static void* take_twice(void* number) {
  (void)number;
  sem_wait(&tokens);
  tell(&tids[0]);
  sem_wait(&tokens);
  return NULL;
}

static void unused_token(void) {
  sem_init(&tokens, 0, 1);
  pthread_t thread;
  pthread_create(&thread, NULL, take_twice, NULL);
  die(1);
}

// Two threads want one another's mutex, one of them for an hour.
static void* want_for_an_hour(void* number) {
  (void)number;
  pthread_mutex_lock(&chain[0]);
  atomic_fetch_add(&ready, 1);
  until(&ready, 2);
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 3600;
  tell(&tids[0]);
  pthread_mutex_timedlock(&chain[1], &end);
  return NULL;
}

static void* want_for_ever(void* number) {
  (void)number;
  pthread_mutex_lock(&chain[1]);
  atomic_fetch_add(&ready, 1);
  until(&ready, 2);
  tell(&tids[1]);
  pthread_mutex_lock(&chain[0]);
  return NULL;
}

static void timed(void) {
  pthread_t all[2];
  pthread_create(&all[0], NULL, want_for_an_hour, NULL);
  pthread_create(&all[1], NULL, want_for_ever, NULL);
  die(2);
}

// A thread waits for the end of one that wants what it has.
static void* want_joiners(void* number) {
  tell(&tids[1]);
  pthread_mutex_lock(&ledger);
  return number;
}

static void* join_with_mutex(void* number) {
  pthread_mutex_lock(&ledger);
  pthread_t other;
  tell(&tids[0]);
  pthread_create(&other, NULL, want_joiners, number);
  pthread_join(other, NULL);
  return NULL;
}

static void joined_holder(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, join_with_mutex, NULL);
  die(2);
}

// A thread that is cancelled while it waits for a condition has its mutex again, and wants in its
// cleanup what another thread has, which wants that mutex.
NOT_INLINED static void want_chain(void* mutex) {
  (void)mutex;
  tell(&tids[0]);
  require(pthread_mutex_lock(&chain[0]) == 0, "not locked");
}

static void* wait_to_be_cancelled(void* number) {
  (void)number;
  pthread_mutex_lock(&chain[1]);
  pthread_cleanup_push(want_chain, NULL);
  tell(&tids[2]);
  pthread_cond_wait(&news, &chain[1]);
  pthread_cleanup_pop(0);
  return NULL;
}

static void* cancel_and_want(void* waiter) {
  pthread_mutex_lock(&chain[0]);
  until_asleep(&tids[2]);
  pthread_cancel(*(pthread_t*)waiter);
  until_asleep(&tids[0]);
  tell(&tids[1]);
  pthread_mutex_lock(&chain[1]);
  return NULL;
}

static void cancelled_into(void) {
  pthread_t waiter, other;
  pthread_create(&waiter, NULL, wait_to_be_cancelled, NULL);
  pthread_create(&other, NULL, cancel_and_want, &waiter);
  die(2);
}

// A thread signals a condition, has its mutex still, and wants what the thread has that it woke.
// Without `lone`, another thread waits for the condition, too, and one of the two is woken.
static atomic_long lone = 1;

static void* wait_and_relock(void* number) {
  (void)number;
  pthread_mutex_lock(&chain[0]);
  pthread_mutex_lock(&ledger);
  tell(&tids[0]);
  pthread_cond_wait(&news, &ledger);
  return NULL;
}

static void* wait_beside(void* number) {
  (void)number;
  pthread_mutex_lock(&ledger);
  tell(&tids[2]);
  pthread_cond_wait(&news, &ledger);
  return NULL;
}

static void* signal_and_want(void* number) {
  (void)number;
  until_asleep(&tids[0]);
  if (!lone) until_asleep(&tids[2]);
  pthread_mutex_lock(&ledger);
  pthread_cond_signal(&news);
  tell(&tids[1]);
  pthread_mutex_lock(&chain[0]);
  return NULL;
}

static void relock(void) {
  void* (*const all[])(void*) = {wait_and_relock, signal_and_want, wait_beside};
  pthread_t thread;
  for (int i = 0; i < (lone ? 2 : 3); ++i) pthread_create(&thread, NULL, all[i], NULL);
  die(lone ? 2 : 3);
}

static void relock_one(void) {
  lone = 0;
  relock();
}

// Of two readers, the one that came last has let go when a writer comes.
static void* read_on(void* number) {
  (void)number;
  pthread_rwlock_rdlock(&atlas);
  atomic_store(&ready, 1);
  return pause(), NULL;
}

static void* read_and_leave(void* number) {
  (void)number;
  until(&ready, 1);
  pthread_rwlock_rdlock(&atlas);
  pthread_rwlock_unlock(&atlas);
  atomic_store(&ready, 2);
  return pause(), NULL;
}

static void* write_atlas(void* number) {
  (void)number;
  until(&ready, 2);
  tell(&tids[0]);
  pthread_rwlock_wrlock(&atlas);
  return NULL;
}

static void readers(void) {
  void* (*const all[])(void*) = {read_on, read_and_leave, write_atlas};
  pthread_t thread;
  for (int i = 0; i < 3; ++i) pthread_create(&thread, NULL, all[i], NULL);
  die(1);
}

// Several readers have the lock when a writer comes. Of a thread without hooks only what it meets
// first is recorded: a mutex of its own.
static void* read_beside(void* number) {
  (void)number;
  pthread_setname_np(pthread_self(), "reader");
  pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&own);
  pthread_mutex_unlock(&own);
  pthread_rwlock_rdlock(&atlas);
  atomic_fetch_add(&ready, 1);
  return pause(), NULL;
}

static void write_beside(int readers_before) {
  pthread_t thread;
  for (int i = 0; i < readers_before; ++i) pthread_create(&thread, NULL, read_beside, NULL);
  until(&ready, readers_before);
  atomic_store(&ready, 2);
  pthread_create(&thread, NULL, write_atlas, NULL);
  die(1);
}

static void two_readers(void) { write_beside(2); }

static void three_readers(void) { write_beside(3); }

// One thread reads twice.
static void reads_twice(void) {
  pthread_rwlock_rdlock(&atlas);
  pthread_rwlock_rdlock(&atlas);
  write_beside(0);
}

// A reader of two lets go while a writer waits, then the other one.
static void* write_once(void* number) {
  (void)number;
  tell(&tids[0]);
  pthread_rwlock_wrlock(&atlas);
  pthread_rwlock_unlock(&atlas);
  return NULL;
}

static void readers_leave(void) {
  pthread_t writer;
  pthread_rwlock_rdlock(&atlas);
  pthread_rwlock_rdlock(&atlas);
  pthread_create(&writer, NULL, write_once, NULL);
  until_asleep(&tids[0]);
  pthread_rwlock_unlock(&atlas);
  pthread_rwlock_unlock(&atlas);
  pthread_join(writer, NULL);
  printf("rwlock atlas 3\n");
}

// Of three readers the latest lets go before a writer comes.
static void* read_once(void* none) {
  pthread_rwlock_rdlock(&atlas);
  pthread_rwlock_unlock(&atlas);
  return none;
}

static void latest_leaves(void) {
  pthread_t reader, writer;
  pthread_rwlock_rdlock(&atlas);
  pthread_rwlock_rdlock(&atlas);
  pthread_create(&reader, NULL, read_once, NULL);
  pthread_join(reader, NULL);
  pthread_create(&writer, NULL, write_once, NULL);
  until_asleep(&tids[0]);
  pthread_rwlock_unlock(&atlas);
  pthread_rwlock_unlock(&atlas);
  pthread_join(writer, NULL);
  printf("rwlock atlas 4\n");
}

// A thread ends with a mutex that another one wants.
static void* lock_and_end(void* number) {
  pthread_mutex_lock(&ledger);
  return number;
}

static void* want_ledger(void* number) {
  (void)number;
  tell(&tids[0]);
  pthread_mutex_lock(&ledger);
  return NULL;
}

static void ended_holder(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, lock_and_end, NULL);
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, want_ledger, NULL);
  die(1);
}

// What a process and its child have in common.
struct common {
  pthread_mutex_t mutex;
  pthread_cond_t news;
  sem_t token;
  atomic_long waiter, ready;
};

static struct common* make_common(void) {
  struct common* common =
      mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(common != MAP_FAILED, "no memory");
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&common->mutex, &kind);
  pthread_condattr_t condition;
  pthread_condattr_init(&condition);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&common->news, &condition);
  sem_init(&common->token, 1, 1);
  return common;
}

// A child wants its own copy of a mutex that a thread of its parent has.
NOT_INLINED static void want_copy(struct common* common) {
  tell(&common->waiter);
  require(pthread_mutex_lock(&ledger) == 0, "not locked");
}

/// Ends with a child, which is gone before the recorder sees that its parent is.
static void end_with(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  raise(SIGKILL);
}

static void fork_and_die(void) {
  struct common* common = make_common();
  const pid_t child = fork();
  if (child == 0) {
    want_copy(common);
    _exit(1);
  }
  until_asleep(&common->waiter);
  end_with(child);
}

static void copied(void) {
  pthread_mutex_lock(&ledger);
  fork_and_die();
}

static void* keep_ledger(void* number) {
  (void)number;
  pthread_mutex_lock(&ledger);
  atomic_store(&ready, 1);
  return pause(), NULL;
}

static void uncopied(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, keep_ledger, NULL);
  until(&ready, 1);
  fork_and_die();
}

// A process wants a mutex that its child has.
NOT_INLINED static void keep_common(struct common* common) {
  pthread_mutex_lock(&common->mutex);
  atomic_store(&common->ready, 1);
  pause();
}

static void* want_common(void* common) {
  tell(&tids[0]);
  pthread_mutex_lock(&((struct common*)common)->mutex);
  return NULL;
}

static void shared(void) {
  struct common* common = make_common();
  const pid_t child = fork();
  if (child == 0) keep_common(common);
  until(&common->ready, 1);
  pthread_t thread;
  pthread_create(&thread, NULL, want_common, common);
  until_asleep(&tids[0]);
  end_with(child);
}

// A child was killed with the mutex before its parent wants it.
static void shared_dead(void) {
  struct common* common = make_common();
  const pid_t child = fork();
  if (child == 0) keep_common(common);
  until(&common->ready, 1);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, want_common, common);
  die(1);
}

// The child lives, and wants a token that this process has taken.
NOT_INLINED static void want_token(struct common* common) {
  pthread_mutex_lock(&common->mutex);
  until(&common->ready, 1);
  tell(&common->waiter);
  while (sem_wait(&common->token) != 0) {
  }
  _exit(1);
}

static void* take_token(void* argument) {
  struct common* common = argument;
  // That it gives the token back once shows that the semaphore is a lock.
  sem_wait(&common->token);
  sem_post(&common->token);
  sem_wait(&common->token);
  atomic_store(&common->ready, 1);
  until_asleep(&common->waiter);
  return want_common(common);
}

static void shared_token(void) {
  struct common* common = make_common();
  const pid_t child = fork();
  if (child == 0) want_token(common);
  pthread_t thread;
  pthread_create(&thread, NULL, take_token, common);
  until_asleep(&tids[0]);
  end_with(child);
}

// A process has signalled a condition to its parent, and has the mutex still.
NOT_INLINED static void signal_common(struct common* common) {
  until_asleep(&common->waiter);
  pthread_mutex_lock(&common->mutex);
  pthread_cond_signal(&common->news);
  atomic_store(&common->ready, 1);
  pause();
}

static void* wait_in_common(void* argument) {
  struct common* common = argument;
  pthread_mutex_lock(&common->mutex);
  tell(&common->waiter);
  pthread_cond_wait(&common->news, &common->mutex);
  return NULL;
}

static void shared_news(void) {
  struct common* common = make_common();
  const pid_t child = fork();
  if (child == 0) signal_common(common);
  pthread_t thread;
  pthread_create(&thread, NULL, wait_in_common, common);
  until(&common->ready, 1);
  until_asleep(&common->waiter);
  end_with(child);
}

// A process waits until its child lets go of a mutex.
static void shared_turn(void) {
  struct common* common = make_common();
  const pid_t child = fork();
  if (child == 0) {
    pthread_mutex_lock(&common->mutex);
    atomic_store(&common->ready, 1);
    until_asleep(&common->waiter);
    pthread_mutex_unlock(&common->mutex);
    exit(0);
  }
  until(&common->ready, 1);
  tell(&common->waiter);
  pthread_mutex_lock(&common->mutex);
  pthread_mutex_unlock(&common->mutex);
  require(waitpid(child, NULL, 0) == child, "no child");
}

// An urgent thread waits for a lazy one, which holds what it needs as long as a third one is busy.
static void* lazy(void* number) {
  (void)number;
  pthread_mutex_lock(&ledger);
  ++taken;
  atomic_store(&ready, 1);
  until(&given, 1);
  pthread_mutex_unlock(&ledger);
  return NULL;
}

static void* busy(void* number) {
  (void)number;
  until_asleep(&tids[2]);
  atomic_store(&given, 1);
  return NULL;
}

static void* urgent(void* number) {
  (void)number;
  until(&ready, 1);
  require(pthread_mutex_trylock(&ledger) == EBUSY, "the lazy one has let go");
  tell(&tids[2]);
  pthread_mutex_lock(&ledger);
  ++taken;
  pthread_mutex_unlock(&ledger);
  return NULL;
}

static void inversion(void) {
  routines[0] = lazy;
  routines[1] = busy;
  routines[2] = urgent;
  run(3);
  printf("mutex ledger %ld\n", taken);
}

static void* read_or_write(void* number) {
  for (int i = 0; i < ROUNDS; ++i) {
    if ((long)number == 0) {
      pthread_rwlock_wrlock(&atlas);
      require(inside++ == 0, "two writers");
      if (i % 50 == 0) sched_yield();
      --inside;
    } else {
      pthread_rwlock_rdlock(&atlas);
      require(inside == 0, "a writer beside readers");
      if (i % 50 == 0) sched_yield();
    }
    atomic_fetch_add(&taken, 1);
    pthread_rwlock_unlock(&atlas);
  }
  return NULL;
}

static void rwlock(void) {
  for (int i = 0; i < THREADS; ++i) routines[i] = read_or_write;
  run(THREADS);
  // A writer has to wait for a reader.
  struct timespec soon;
  pthread_rwlock_rdlock(&atlas);
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_nsec += 1000000;
  if (soon.tv_nsec >= 1000000000) ++soon.tv_sec, soon.tv_nsec -= 1000000000;
  require(pthread_rwlock_timedwrlock(&atlas, &soon) == ETIMEDOUT, "no time-out");
  soon.tv_nsec = -1;
  require(pthread_rwlock_timedwrlock(&atlas, &soon) == EINVAL, "a wrong time is taken");
  pthread_rwlock_unlock(&atlas);
  printf("rwlock atlas %ld\n", taken + 1);
}

static void* take_tokens(void* number) {
  (void)number;
  for (int i = 0; i < ROUNDS; ++i) {
    while (sem_wait(&tokens) != 0) {
    }
    atomic_fetch_add(&taken, 1);
  }
  return NULL;
}

static void* give_tokens(void* number) {
  (void)number;
  for (int i = 0; i < 3 * ROUNDS; ++i) {
    if (i % 100 == 0) sched_yield();
    sem_post(&tokens);
    atomic_fetch_add(&given, 1);
  }
  return NULL;
}

static void semaphore(void) {
  sem_init(&tokens, 0, 0);
  for (int i = 0; i < 3; ++i) routines[i] = take_tokens;
  routines[3] = give_tokens;
  run(4);
  struct timespec past = {1, 0};
  require(sem_trywait(&tokens) == -1 && errno == EAGAIN, "a token is left");
  require(sem_timedwait(&tokens, &past) == -1 && errno == ETIMEDOUT, "no time-out");
  sem_post(&tokens);
  past.tv_nsec = 1000000000;
  require(sem_timedwait(&tokens, &past) == -1 && errno == EINVAL, "a wrong time is taken");
  errno = 17;
  require(sem_wait(&tokens) == 0 && errno == 17, "errno has changed");
  printf("semaphore tokens %ld\ngiven tokens %ld\n", taken + 1, given + 1);
}

// So many waits fill blocks of records to their last byte.
enum { HAND_OVERS = 20000 };
static sem_t there, back;

static void* hand_back(void* number) {
  (void)number;
  for (int i = 0; i < HAND_OVERS; ++i) {
    sem_wait(&there);
    sem_post(&back);
  }
  return NULL;
}

static void* hand_over(void* number) {
  (void)number;
  for (int i = 0; i < HAND_OVERS; ++i) {
    sem_post(&there);
    sem_wait(&back);
  }
  return NULL;
}

static void handed(void) {
  sem_init(&there, 0, 0);
  sem_init(&back, 0, 0);
  routines[0] = hand_over;
  routines[1] = hand_back;
  run(2);
  printf("semaphore there %d\nsemaphore back %d\n", HAND_OVERS, HAND_OVERS);
}

static void* pass(void* number) {
  (void)number;
  for (int i = 0; i < ROUNDS; ++i) {
    const int result = pthread_barrier_wait(&gate);
    require(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD, "no barrier");
    atomic_fetch_add(&taken, 1);
    if (result == PTHREAD_BARRIER_SERIAL_THREAD) atomic_fetch_add(&given, 1);
  }
  return NULL;
}

static void barrier(void) {
  pthread_barrier_init(&gate, NULL, THREADS);
  for (int i = 0; i < THREADS; ++i) routines[i] = pass;
  run(THREADS);
  require(given == ROUNDS, "not one a round");
  printf("barrier gate %ld\nblocked gate %ld\n", taken, taken - given);
}

static void* spin(void* number) {
  (void)number;
  for (int i = 0; i < ROUNDS; ++i) {
    pthread_spin_lock(&top);
    require(inside++ == 0, "two at a time");
    --inside;
    ++taken;
    pthread_spin_unlock(&top);
  }
  return NULL;
}

static void spinning(void) {
  pthread_spin_init(&top, 0);
  for (int i = 0; i < THREADS; ++i) routines[i] = spin;
  run(THREADS);
  printf("spin-lock top %ld\n", taken);
}

static void set_up(void) {
  atomic_store(&ready, 1);
  until_asleep(&tids[1]);
  ++inside;
}

static void set_up_alone(void) { ++inside; }

static void* first_of_all(void* number) {
  if ((long)number != 0) {
    until(&ready, 1);
    tell(&tids[1]);
  }
  require(pthread_once(&once, set_up) == 0 && inside == 1, "not done");
  return NULL;
}

static void done_once(void) {
  for (int i = 0; i < 2; ++i) routines[i] = first_of_all;
  run(2);
  call_once(&first, set_up_alone);
  require(inside == 2, "not done in C11's way");
}

static int write_letters(void* number) {
  (void)number;
  for (int i = 0; i < ROUNDS; ++i) {
    require(mtx_lock(&inkwell) == thrd_success, "no lock");
    require(inside++ == 0, "two at a time");
    if (i % 50 == 0) sched_yield();
    --inside;
    ++taken;
    mtx_unlock(&inkwell);
  }
  return 42;
}

static int wait_for_ink(void* number) {
  (void)number;
  mtx_lock(&inkwell);
  ++taken;
  atomic_store(&ready, 1);
  while (!told) cnd_wait(&ink, &inkwell);
  mtx_unlock(&inkwell);
  return 7;
}

NOT_INLINED static void c11(void) {
  thrd_t all[3];
  int result = 0;
  mtx_init(&inkwell, mtx_timed);
  cnd_init(&ink);
  for (int i = 0; i < 2; ++i) thrd_create(&all[i], write_letters, NULL);
  thrd_create(&all[2], wait_for_ink, NULL);
  for (int i = 0; i < 2; ++i)
    require(thrd_join(all[i], &result) == thrd_success && result == 42, "no result");
  // It has the mutex, or waits already.
  until(&ready, 1);
  mtx_lock(&inkwell);
  ++taken;
  told = 1;
  cnd_signal(&ink);
  mtx_unlock(&inkwell);
  require(thrd_join(all[2], &result) == thrd_success && result == 7, "no result of the last");
  mtx_lock(&inkwell);
  ++taken;
  struct timespec past = {1, 0};
  require(mtx_timedlock(&inkwell, &past) == thrd_timedout, "no time-out");
  require(mtx_trylock(&inkwell) == thrd_busy, "not busy");
  mtx_unlock(&inkwell);
  printf("mutex inkwell %ld\n", taken);
}

// What each kind of mutex gives must be what it gives without a recorder.
NOT_INLINED static void kinds(void) {
  pthread_mutexattr_t kind;
  pthread_mutex_t mutex;
  struct timespec past = {1, 0};
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &kind);
  require(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == EDEADLK, "no EDEADLK");
  require(pthread_mutex_timedlock(&mutex, &past) == EDEADLK, "no EDEADLK with a time");
  require(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == EPERM, "no EPERM");
  pthread_mutex_destroy(&mutex);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&mutex, &kind);
  for (int i = 0; i < 3; ++i) require(pthread_mutex_lock(&mutex) == 0, "not recursive");
  for (int i = 0; i < 3; ++i) require(pthread_mutex_unlock(&mutex) == 0, "unlocked too early");
  require(pthread_mutex_unlock(&mutex) == EPERM, "no EPERM of a recursive one");
  pthread_mutex_destroy(&mutex);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_NORMAL);
  pthread_mutex_init(&mutex, &kind);
  require(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT,
          "no time-out");
  require(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL,
          "a clock that cannot be");
  pthread_mutex_unlock(&mutex);
  require(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL,
          "such a clock, and the mutex free");
  pthread_mutex_destroy(&mutex);
}

// What a thread's first operation on a mutex with a priority of its own gives.
static int (*first_operation)(pthread_mutex_t*);

static void* operate_first(void* mutex) {
  const int result = first_operation(mutex);
  if (result == 0) pthread_mutex_unlock(mutex);
  return (void*)(long)result;
}

// A thread that may not have the priority is told so by either operation, the first time.
static void protected(void) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_PROTECT);
  pthread_mutexattr_setprioceiling(&kind, 5);
  void* results[2];
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_t mutex;
    pthread_mutex_init(&mutex, &kind);
    first_operation = i == 0 ? pthread_mutex_trylock : pthread_mutex_lock;
    pthread_t thread;
    pthread_create(&thread, NULL, operate_first, &mutex);
    pthread_join(thread, &results[i]);
  }
  require(results[0] == results[1], "locking gives something else than trying");
}

static void* die_with_it(void* mutex) {
  pthread_mutex_lock(mutex);
  return NULL;
}

static void robust(void) {
  pthread_mutexattr_t kind;
  pthread_mutex_t mutex;
  pthread_t thread;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  for (int heal = 1; heal >= 0; --heal) {
    pthread_mutex_init(&mutex, &kind);
    pthread_create(&thread, NULL, die_with_it, &mutex);
    pthread_join(thread, NULL);
    require(pthread_mutex_lock(&mutex) == EOWNERDEAD, "no EOWNERDEAD");
    if (heal) require(pthread_mutex_consistent(&mutex) == 0, "cannot be made consistent");
    require(pthread_mutex_unlock(&mutex) == 0, "cannot be unlocked");
    require(pthread_mutex_lock(&mutex) == (heal ? 0 : ENOTRECOVERABLE), "neither well nor lost");
    if (heal) pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
  }
}

// A thread waits for a robust mutex that another one has made consistent.
static pthread_mutex_t heirloom;

static void* inherit(void* number) {
  (void)number;
  require(pthread_mutex_lock(&heirloom) == EOWNERDEAD, "no EOWNERDEAD");
  require(pthread_mutex_consistent(&heirloom) == 0, "cannot be made consistent");
  atomic_store(&ready, 1);
  return pause(), NULL;
}

static void* want_heirloom(void* number) {
  (void)number;
  until(&ready, 1);
  tell(&tids[0]);
  pthread_mutex_lock(&heirloom);
  return NULL;
}

static void heir(void) {
  pthread_mutexattr_t kind;
  pthread_t thread;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&heirloom, &kind);
  pthread_create(&thread, NULL, die_with_it, &heirloom);
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, inherit, NULL);
  pthread_create(&thread, NULL, want_heirloom, NULL);
  die(1);
}

// A thread waits when another program takes this one's place. The second of the two goes on after
// one that cannot be started.
static char* own_path;

static void replaced(void) {
  pthread_t thread;
  pthread_mutex_lock(&ledger);
  pthread_create(&thread, NULL, wait_behind, NULL);
  atomic_store(&ready, 1);
  until_asleep(&tids[1]);
  execl(own_path, own_path, "holder", NULL);
  require(0, "no exec");
}

static void not_replaced(void) {
  pthread_t thread;
  pthread_mutex_lock(&ledger);
  pthread_create(&thread, NULL, wait_behind, NULL);
  atomic_store(&ready, 1);
  execl("/", "/", NULL);
  until_asleep(&tids[1]);
  raise(SIGKILL);
}

static void leave_it(void* mutex) {
  ++told;
  pthread_mutex_unlock(mutex);
}

static void* cancelled_wait(void* what) {
  if (what == &news) {
    pthread_mutex_lock(&ledger);
    pthread_cleanup_push(leave_it, &ledger);
    tell(&tids[0]);
    pthread_cond_wait(&news, &ledger);
    pthread_cleanup_pop(1);
  } else if (what == &tokens) {
    tell(&tids[0]);
    sem_wait(&tokens);
  } else {
    tell(&tids[0]);
    pthread_join(*(pthread_t*)what, NULL);
  }
  return NULL;
}

// Cancelled while they wait, and, last, before they would take what is there.
static void cancel(void) {
  pthread_t self = pthread_self();
  void* what[] = {&news, &tokens, &self};
  sem_init(&tokens, 0, 0);
  for (int i = 0; i < 3; ++i) {
    pthread_t thread;
    void* result;
    atomic_store(&tids[0], 0);
    pthread_create(&thread, NULL, cancelled_wait, what[i]);
    until_asleep(&tids[0]);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    require(result == PTHREAD_CANCELED, "not cancelled");
  }
  require(told == 1 && pthread_mutex_trylock(&ledger) == 0, "the mutex was not left");
  sem_post(&tokens);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  pthread_cancel(self);
  require(sem_wait(&tokens) == 0, "no token");
}

static void* nothing(void* number) { return number; }

static void* end_later(void* number) {
  until(&given, 1);
  return number;
}

static void joins(void) {
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, nothing, &told);
  require(pthread_join(thread, &result) == 0 && result == &told, "no result");
  require(pthread_join(pthread_self(), NULL) == EDEADLK, "no EDEADLK");
  struct timespec past = {1, 0};
  pthread_create(&thread, NULL, end_later, NULL);
  require(pthread_timedjoin_np(thread, NULL, &past) == ETIMEDOUT, "no time-out");
  atomic_store(&given, 1);
  require(pthread_join(thread, NULL) == 0, "no join");
  printf("thread (join) 2\n");
}

// Locks of the kernel's, which know who has them.
static int word, words[2];

// Called where it is written, as the functions are told of.
#define FUTEX(at, operation, value, other) \
  syscall(SYS_futex, at, (operation) | FUTEX_PRIVATE_FLAG, value, NULL, other, 0)

static void* hold_word(void* number) {
  (void)number;
  require(FUTEX(&word, FUTEX_LOCK_PI, 0, NULL) == 0, "not locked");
  atomic_store(&ready, 1);
  until_asleep(&tids[1]);
  require(FUTEX(&word, FUTEX_UNLOCK_PI, 0, NULL) == 0, "not unlocked");
  return NULL;
}

static void* want_word(void* number) {
  (void)number;
  until(&ready, 1);
  tell(&tids[1]);
  require(FUTEX(&word, FUTEX_LOCK_PI, 0, NULL) == 0, "not locked");
  require(FUTEX(&word, FUTEX_UNLOCK_PI, 0, NULL) == 0, "not unlocked");
  return NULL;
}

// What goes wrong is as it would be without us, and errno too.
static void kernel_lock(void) {
  routines[0] = hold_word;
  routines[1] = want_word;
  run(2);
  require(FUTEX(&word, FUTEX_TRYLOCK_PI, 0, NULL) == 0, "not tried");
  require(FUTEX(&word, FUTEX_LOCK_PI, 0, NULL) == -1 && errno == EDEADLK, "no EDEADLK");
  errno = 17;
  require(FUTEX(&word, FUTEX_UNLOCK_PI, 0, NULL) == 0 && errno == 17, "not unlocked");
  require(FUTEX((int*)4096, FUTEX_LOCK_PI, 0, NULL) == -1 && errno == EFAULT, "no EFAULT");
  printf("futex word 3\n");
}

static void* keep_word(void* number) {
  (void)number;
  require(FUTEX(&word, FUTEX_LOCK_PI, 0, NULL) == 0, "not locked");
  atomic_store(&ready, 1);
  return pause(), NULL;
}

static void kernel_lock_kept(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, keep_word, NULL);
  until(&ready, 1);
  pthread_create(&thread, NULL, want_word, NULL);
  until_asleep(&tids[1]);
  raise(SIGKILL);
}

// Threads that wait for a word are moved to a lock, and wait for several words.
static void* wait_and_be_moved(void* number) {
  (void)number;
  tell(&tids[0]);
  require(FUTEX(&words[0], FUTEX_WAIT_REQUEUE_PI, 0, &word) == 0, "not moved");
  require(FUTEX(&word, FUTEX_UNLOCK_PI, 0, NULL) == 0, "it has not got the lock");
  return NULL;
}

static void* move_waiter(void* number) {
  (void)number;
  until_asleep(&tids[0]);
  long moved = 0;
  // On a busy machine, the thread may have slept on its way there, too.
  do {
    nap(1);
    moved = syscall(SYS_futex, &words[0], FUTEX_CMP_REQUEUE_PI | FUTEX_PRIVATE_FLAG, 1, (void*)1,
                    &word, 0);
  } while (moved == 0);
  require(moved > 0, "nobody is moved");
  return NULL;
}

static void moved(void) {
  routines[0] = wait_and_be_moved;
  routines[1] = move_waiter;
  run(2);
  printf("futex words[0] 1\nfutex word 1\n");
}

static void* wait_for_several(void* number) {
  (void)number;
  struct futex_waitv all[2] = {
      {.uaddr = (uintptr_t)&words[0], .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG},
      {.uaddr = (uintptr_t)&words[1], .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG}};
  tell(&tids[0]);
  require(syscall(SYS_futex_waitv, all, 2, 0, NULL, 0) == 1, "not woken by the second");
  return NULL;
}

static void* wake_second(void* number) {
  (void)number;
  until_asleep(&tids[0]);
  // On a busy machine, the thread may have slept on its way there, too.
  while (FUTEX(&words[1], FUTEX_WAKE, 1, NULL) != 1) nap(1);
  return NULL;
}

static void several(void) {
  require(syscall(SYS_futex_waitv, NULL, 1, 0, NULL, 0) == -1, "nothing is waited for");
  if (errno == ENOSYS) return;
  require(syscall(SYS_futex_waitv, (void*)4096, 1, 0, NULL, 0) == -1 && errno == EFAULT,
          "no EFAULT");
  routines[0] = wait_for_several;
  routines[1] = wake_second;
  run(2);
  printf("futex words[0] 1\n");
}

// A semaphore's signal handler may post, at any time.
static void on_alarm(int number) {
  (void)number;
  sem_post(&tokens);
}

static void handler(void) {
  sem_init(&tokens, 0, 0);
  signal(SIGUSR1, on_alarm);
  for (int i = 0; i < ROUNDS; ++i) {
    raise(SIGUSR1);
    require(sem_wait(&tokens) == 0, "no token");
  }
  printf("semaphore tokens %d\ngiven tokens %d\n", ROUNDS, ROUNDS);
}

static void forked(void) {
  pthread_mutex_lock(&ledger);
  const pid_t child = fork();
  if (child == 0) {
    // The child's own counts, of which the parent has none.
    pthread_mutex_unlock(&ledger);
    for (int i = 0; i < 3; ++i) pthread_mutex_lock(&chain[1]), pthread_mutex_unlock(&chain[1]);
    _exit(0);
  }
  pthread_mutex_unlock(&ledger);
  int status = 1;
  waitpid(child, &status, 0);
  require(status == 0, "the child has failed");
  printf("mutex ledger 1\nmutex chain[1] 3\n");
}

static int is_child;

static void fork_and_post(int number) {
  (void)number;
  const pid_t child = fork();
  is_child = child == 0;
  if (is_child) sem_post(&tokens);
  if (!is_child) atomic_store(&given, child);
}

static void fork_once(void) { fork_and_post(0); }

// The parent, of a child that goes on in the middle of a wait.
static void child_is_well(void) {
  int status = 1;
  if (is_child) _exit(0);
  waitpid((pid_t)given, &status, 0);
  require(status == 0, "the child has failed");
}

static void* wait_and_fork(void* number) {
  (void)number;
  tell(&tids[0]);
  while (sem_wait(&tokens) != 0) {
  }
  child_is_well();
  return NULL;
}

// A child that goes on within what its parent began has not got what the parent has counted.
static void forked_within(void) {
  pthread_t thread;
  sem_init(&tokens, 0, 0);
  signal(SIGUSR1, fork_and_post);
  pthread_create(&thread, NULL, wait_and_fork, NULL);
  until_asleep(&tids[0]);
  pthread_kill(thread, SIGUSR1);
  until(&given, 1);
  sem_post(&tokens);
  require(pthread_join(thread, NULL) == 0, "no join");
  require(pthread_once(&once, fork_once) == 0, "not done");
  child_is_well();
}

// A thread waits for `ledger` while it holds `outer`, for which another one waits.
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;

static void* hold_ledger(void* number) {
  (void)number;
  pthread_mutex_lock(&ledger);
  atomic_store(&ready, 1);
  until_asleep(&tids[2]);
  pthread_mutex_unlock(&ledger);
  return NULL;
}

static void* hold_outer(void* number) {
  (void)number;
  until(&ready, 1);
  pthread_mutex_lock(&outer);
  tell(&tids[1]);
  pthread_mutex_lock(&ledger);
  pthread_mutex_unlock(&ledger);
  pthread_mutex_unlock(&outer);
  return NULL;
}

static void* wait_for_outer(void* number) {
  (void)number;
  until_asleep(&tids[1]);
  tell(&tids[2]);
  pthread_mutex_lock(&outer);
  pthread_mutex_unlock(&outer);
  return NULL;
}

static void nested(void) {
  routines[0] = hold_ledger;
  routines[1] = hold_outer;
  routines[2] = wait_for_outer;
  run(3);
}

// A thread waits for a condition of `ledger` while it holds `outer`, for which another one waits.
static void* hold_outer_for_news(void* number) {
  (void)number;
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&ledger);
  tell(&tids[1]);
  while (told == 0) pthread_cond_wait(&news, &ledger);
  pthread_mutex_unlock(&ledger);
  pthread_mutex_unlock(&outer);
  return NULL;
}

static void* tell_news_late(void* number) {
  (void)number;
  until_asleep(&tids[2]);
  pthread_mutex_lock(&ledger);
  told = 1;
  pthread_cond_signal(&news);
  pthread_mutex_unlock(&ledger);
  return NULL;
}

static void nested_condition(void) {
  routines[0] = hold_outer_for_news;
  routines[1] = wait_for_outer;
  routines[2] = tell_news_late;
  run(3);
}

// In each of so many turns, one thread has the mutex until the other waits for it.
enum { TURNS = 20 };

static void* hold_in_turns(void* number) {
  (void)number;
  for (long turn = 0; turn < TURNS; ++turn) {
    until(&given, turn);
    atomic_store(&tids[1], 0);
    pthread_mutex_lock(&ledger);
    atomic_store(&ready, turn + 1);
    until_asleep(&tids[1]);
    pthread_mutex_unlock(&ledger);
  }
  return NULL;
}

static void* wait_in_turns(void* number) {
  (void)number;
  for (long turn = 0; turn < TURNS; ++turn) {
    until(&ready, turn + 1);
    tell(&tids[1]);
    pthread_mutex_lock(&ledger);
    pthread_mutex_unlock(&ledger);
    atomic_store(&given, turn + 1);
  }
  return NULL;
}

static void turns(void) {
  routines[0] = hold_in_turns;
  routines[1] = wait_in_turns;
  run(2);
}

// The same by a fiber, which goes to another fiber of its thread in each turn: while it has the
// mutex, or when it has let go.
static ucontext_t loom, taking, passing;
static int goes_with_mutex;

// That its section's call begins anew in each turn shows that the fiber was not suspended in it
// before.
NOT_INLINED static void take_turn(long turn) {
  until(&given, turn);
  atomic_store(&tids[1], 0);
  pthread_mutex_lock(&ledger);
  atomic_store(&ready, turn + 1);
  if (!goes_with_mutex) until_asleep(&tids[1]);
  if (goes_with_mutex) swapcontext(&taking, &passing);
  pthread_mutex_unlock(&ledger);
}

static void take_in_turns(void) {
  for (long turn = 0; turn < TURNS; ++turn) {
    take_turn(turn);
    if (!goes_with_mutex) swapcontext(&taking, &passing);
  }
}

static void pass_in_turns(void) {
  for (;;) {
    if (goes_with_mutex)
      until_asleep(&tids[1]);
    else
      until(&given, 1);
    swapcontext(&passing, &taking);
  }
}

static void* weave_in_turns(void* number) {
  (void)number;
  enum { STACK = 64 << 10 };
  static char stacks[2][STACK];
  ucontext_t* fibers[] = {&taking, &passing};
  for (int i = 0; i < 2; ++i) {
    getcontext(fibers[i]);
    fibers[i]->uc_stack.ss_sp = stacks[i];
    fibers[i]->uc_stack.ss_size = STACK;
    fibers[i]->uc_link = &loom;
  }
  makecontext(&taking, take_in_turns, 0);
  makecontext(&passing, pass_in_turns, 0);
  swapcontext(&loom, &taking);
  return NULL;
}

static void woven(void) {
  routines[0] = weave_in_turns;
  routines[1] = wait_in_turns;
  run(2);
}

static void woven_within(void) {
  goes_with_mutex = 1;
  woven();
}

// The same by a semaphore that is used as a lock; at the end the first waits for a token of the
// second.
static sem_t guard;

static void* guard_in_turns(void* number) {
  (void)number;
  for (long turn = 0; turn < TURNS; ++turn) {
    until(&given, turn);
    atomic_store(&tids[1], 0);
    sem_wait(&guard);
    atomic_store(&ready, turn + 1);
    until_asleep(&tids[1]);
    sem_post(&guard);
  }
  tell(&tids[0]);
  sem_wait(&tokens);
  return NULL;
}

static void* wait_for_guard(void* number) {
  (void)number;
  for (long turn = 0; turn < TURNS; ++turn) {
    until(&ready, turn + 1);
    tell(&tids[1]);
    sem_wait(&guard);
    sem_post(&guard);
    atomic_store(&given, turn + 1);
  }
  until_asleep(&tids[0]);
  sem_post(&tokens);
  return NULL;
}

static void semaphores(void) {
  sem_init(&guard, 0, 1);
  sem_init(&tokens, 0, 0);
  routines[0] = guard_in_turns;
  routines[1] = wait_for_guard;
  run(2);
}

// In each of so many turns, a thread has a mutex until another waits for it, and waits within it
// itself only then.
static void* hold_and_wait_later(void* number) {
  (void)number;
  for (long turn = 0; turn < TURNS; ++turn) {
    until(&given, turn);
    atomic_store(&tids[1], 0);
    pthread_mutex_lock(&ledger);
    atomic_store(&ready, turn + 1);
    until_asleep(&tids[1]);
    tell(&tids[0]);
    sem_wait(&tokens);
    atomic_store(&tids[0], 0);
    pthread_mutex_unlock(&ledger);
  }
  return NULL;
}

static void* wake_holder(void* number) {
  (void)number;
  for (long turn = 0; turn < TURNS; ++turn) {
    until_asleep(&tids[0]);
    sem_post(&tokens);
    until(&given, turn + 1);
  }
  return NULL;
}

static void later(void) {
  sem_init(&tokens, 0, 0);
  routines[0] = hold_and_wait_later;
  routines[1] = wait_in_turns;
  routines[2] = wake_holder;
  run(3);
}

// Three threads wait at once, 50 ms.
static void* hold_for_three(void* number) {
  (void)number;
  pthread_mutex_lock(&ledger);
  atomic_store(&ready, 1);
  for (int i = 1; i < THREADS; ++i) until_asleep(&tids[i]);
  nap(50);
  pthread_mutex_unlock(&ledger);
  return NULL;
}

static void* wait_with_others(void* number) {
  until(&ready, 1);
  tell(&tids[(long)number]);
  pthread_mutex_lock(&ledger);
  pthread_mutex_unlock(&ledger);
  return NULL;
}

static void together(void) {
  routines[0] = hold_for_three;
  for (int i = 1; i < THREADS; ++i) routines[i] = wait_with_others;
  run(THREADS);
  // The run is longer than their waits are together, which would limit what is said of these.
  nap(400);
}

// A thread sleeps under a mutex when another one comes.
static void* sleep_long(void* number) {
  (void)number;
  pthread_mutex_lock(&ledger);
  atomic_store(&ready, 1);
  nap(300);
  pthread_mutex_unlock(&ledger);
  return NULL;
}

static void* come_later(void* number) {
  (void)number;
  until(&ready, 1);
  nap(50);
  pthread_mutex_lock(&ledger);
  pthread_mutex_unlock(&ledger);
  return NULL;
}

static void sleeper(void) {
  routines[0] = sleep_long;
  routines[1] = come_later;
  run(2);
}

// Threads that disturb one another without any lock, and as many of them as you like.
static atomic_long neighbours[THREADS];

static void* count_beside(void* number) {
  for (int i = 0; i < 1000 * ROUNDS; ++i)
    atomic_fetch_add_explicit(&neighbours[(long)number], 1, memory_order_relaxed);
  return NULL;
}

static void sharing(void) {
  for (int i = 0; i < 2; ++i) routines[i] = count_beside;
  run(2);
}

static void crowded(void) {
  enum { CROWD = 64 };
  pthread_t all[CROWD];
  for (long i = 0; i < CROWD; ++i)
    require(pthread_create(&all[i], NULL, count_beside, (void*)(i % THREADS)) == 0, "no thread");
  for (int i = 0; i < CROWD; ++i) require(pthread_join(all[i], NULL) == 0, "no join");
}

// More locks than a small table holds, some of which are met again when it has become large.
static void plenty(void) {
  enum { SHELVES = 20000 };
  static pthread_mutex_t shelves[SHELVES];
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < SHELVES; ++i) {
      pthread_mutex_lock(&shelves[i]);
      pthread_mutex_unlock(&shelves[i]);
    }
  }
}

int main(int count, char** arguments) {
  own_path = arguments[0];
  static const struct {
    const char* name;
    void (*run)(void);
  } all[] = {{"holder", holder},
             {"convoy", convoy},
             {"missed", missed},
             {"rung", rung},
             {"deadlock", deadlock},
             {"idle", idle},
             {"unused-token", unused_token},
             {"timed", timed},
             {"joined-holder", joined_holder},
             {"cancelled-into", cancelled_into},
             {"relock", relock},
             {"relock-one", relock_one},
             {"readers", readers},
             {"two-readers", two_readers},
             {"three-readers", three_readers},
             {"reads-twice", reads_twice},
             {"readers-leave", readers_leave},
             {"latest-leaves", latest_leaves},
             {"ended-holder", ended_holder},
             {"heir", heir},
             {"replaced", replaced},
             {"not-replaced", not_replaced},
             {"copied", copied},
             {"uncopied", uncopied},
             {"shared", shared},
             {"shared-dead", shared_dead},
             {"shared-token", shared_token},
             {"shared-news", shared_news},
             {"shared-turn", shared_turn},
             {"inversion", inversion},
             {"rwlock", rwlock},
             {"semaphore", semaphore},
             {"handed", handed},
             {"barrier", barrier},
             {"spinning", spinning},
             {"once", done_once},
             {"c11", c11},
             {"kinds", kinds},
             {"protected", protected},
             {"robust", robust},
             {"cancel", cancel},
             {"joins", joins},
             {"kernel-lock", kernel_lock},
             {"kernel-lock-kept", kernel_lock_kept},
             {"moved", moved},
             {"several", several},
             {"handler", handler},
             {"forked", forked},
             {"forked-within", forked_within},
             {"nested", nested},
             {"nested-condition", nested_condition},
             {"turns", turns},
             {"woven", woven},
             {"woven-within", woven_within},
             {"later", later},
             {"semaphores", semaphores},
             {"together", together},
             {"sleeper", sleeper},
             {"sharing", sharing},
             {"crowded", crowded},
             {"plenty", plenty}};
  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {
    if (count > 1 && strcmp(arguments[1], all[i].name) == 0) {
      all[i].run();
      return 0;
    }
  }
  fprintf(stderr, "usage: waits SCENARIO\n");
  return 2;
}

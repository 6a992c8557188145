// barred HOW: gives up system calls (seccomp), uses locks, memory, and calls that are slow, and
// exits with 7. None of the calls that it makes then is given up; of the recorder's some are.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t early = PTHREAD_MUTEX_INITIALIZER, late = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int begun, ready;
static int ends[2];

__attribute__((noinline)) int work(int number, const char* text) {
  __asm__ volatile("" : : "r"(text) : "memory");
  return number + 1;
}

// A system call that nobody stands in front of.
static long call_unseen(long number, long first, long second, long third) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(first), "S"(second), "d"(third)
                   : "rcx", "r11", "memory");
  return result;
}

static void load(struct sock_filter** to) {
  *(*to)++ =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
}

static void when(struct sock_filter** to, unsigned number, unsigned action) {
  *(*to)++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
  *(*to)++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
}

// Allows these calls, or kills for them alone.
static void install(const unsigned* calls, unsigned count, int allow, unsigned kill,
                    unsigned flags) {
  struct sock_filter filter[64], *to = filter;
  load(&to);
  for (unsigned i = 0; i < count; ++i) when(&to, calls[i], allow ? SECCOMP_RET_ALLOW : kill);
  *to++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, allow ? kill : SECCOMP_RET_ALLOW);
  struct sock_fprog program = {(unsigned short)(to - filter), filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) != 0) _exit(1);
}

static void allocate(void) {
  void* block = malloc(100);
  __asm__ volatile("" : "+r"(block) : : "memory");
  free(block);
}

static void use(pthread_mutex_t* mutex) {
  for (int i = 0; i < 1000; ++i) {
    work(i, "some text");
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    sem_post(&semaphore);
    sem_wait(&semaphore);
    allocate();
  }
}

static void* wait_and_use(void* mutex) {
  __atomic_fetch_add(&begun, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) {
  }
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(mutex);
    work(i, "some text");
    pthread_mutex_unlock(mutex);
  }
  return NULL;
}

// Blocks for a while in a pipe.
static void* feed(void* unused) {
  usleep(20000);
  if (write(ends[1], "x", 1) != 1) _exit(2);
  return unused;
}

int main(int count, char** arguments) {
  const char* const how = count > 1 ? arguments[1] : "";
  sem_init(&semaphore, 0, 0);
  allocate();
  if (strcmp(how, "first") != 0) use(&early);
  static const unsigned few[] = {SYS_write, SYS_exit_group};
  static const unsigned threads[] = {SYS_write,   SYS_exit_group, SYS_futex,
                                     SYS_madvise, SYS_exit,       SYS_rt_sigprocmask};
  static const unsigned number[] = {SYS_gettid}, links[] = {SYS_readlink};
  pthread_t others[4];
  if (strcmp(how, "kill") == 0 || strcmp(how, "first") == 0) {
    install(few, 2, 1, SECCOMP_RET_KILL_PROCESS, 0);
  } else if (strcmp(how, "trap") == 0) {
    install(few, 2, 1, SECCOMP_RET_TRAP, 0);
  } else if (strcmp(how, "strict") == 0) {
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
  } else if (strcmp(how, "unseen-strict") == 0) {
    call_unseen(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0);
  } else if (strcmp(how, "unseen-kill") == 0) {
    struct sock_filter filter[8], *to = filter;
    load(&to);
    when(&to, SYS_process_vm_readv, SECCOMP_RET_KILL_PROCESS);
    *to++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)(to - filter), filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    call_unseen(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, (long)&program);
  } else if (strcmp(how, "threads") == 0) {
    for (int i = 0; i < 4; ++i) pthread_create(&others[i], NULL, wait_and_use, &late);
    while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < 4) usleep(100);
    install(threads, 6, 1, SECCOMP_RET_KILL_PROCESS, SECCOMP_FILTER_FLAG_TSYNC);
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 4; ++i) pthread_join(others[i], NULL);
  } else if (strcmp(how, "create") == 0) {
    install(number, 1, 0, SECCOMP_RET_KILL_PROCESS, 0);
    ready = 1;
    for (int i = 0; i < 4; ++i) pthread_create(&others[i], NULL, wait_and_use, &late);
    for (int i = 0; i < 4; ++i) pthread_join(others[i], NULL);
  } else if (strcmp(how, "links") == 0) {
    if (pipe(ends) != 0) _exit(3);
    install(links, 1, 0, SECCOMP_RET_KILL_PROCESS, 0);
    pthread_create(&others[0], NULL, feed, NULL);
    char byte;
    if (read(ends[0], &byte, 1) != 1) _exit(4);
    pthread_join(others[0], NULL);
  }
  use(&late);
  use(&early);
  for (int i = 0; i < 1000; ++i) {
    if (write(1, "a line of the program's own\n", 28) != 28) break;
  }
  if (strstr(how, "strict") != NULL) {
    syscall(SYS_exit, 7);
  }
  syscall(SYS_exit_group, 7);
}

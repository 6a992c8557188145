// usage: secluded strict|filter|seccomp|unseen|one|allowing|refused|denying CALLS
// Calls once, gives up most of its system calls, and calls so often. Prints its calls. The filter
// kills for all but a few, that of `one` for getpid alone; the allowing one kills for a call that
// nobody makes; those that the kernel refuses change nothing; the denying one answers EPERM where
// a file is opened.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shape.h"

static volatile long calls;

CALL static void call(void) { calls++; }

PLAIN static int allow_few(const char* way) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
  if (strcmp(way, "seccomp") == 0) {
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
  }
  if (strcmp(way, "filter") == 0) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  long result = SYS_seccomp;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"(SECCOMP_SET_MODE_FILTER), "S"(0), "d"(&program)
                   : "rcx", "r11", "memory");
  return (int)result;
}

/// Answers one call so, and allows all others.
PLAIN static int answer_one(unsigned call, unsigned answer) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

PLAIN static int is_refused(const void* program, int error) {
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) == -1 && errno == error;
}

PLAIN static int try_refused(void) {
  const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_filter back[] = {BPF_STMT(BPF_JMP | BPF_JA, 0xffffffff), allow};
  struct sock_filter outside[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0xfffffffc), allow};
  const struct sock_fprog programs[] = {{2, back}, {2, outside}, {0, back}};
  for (int i = 0; i < 3; i++) {
    if (!is_refused(&programs[i], EINVAL)) return 1;
  }
  void* const nowhere = (void*)8;
  const struct sock_fprog unreadable = {2, nowhere};
  return !is_refused(NULL, EFAULT) || !is_refused(nowhere, EFAULT) ||
         !is_refused(&unreadable, EFAULT);
}

PLAIN int main(int argc, char** argv) {
  if (argc < 3) return 2;
  call();
  const int strict = strcmp(argv[1], "strict") == 0;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 1;
  const int failed =
      strict                             ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
      : strcmp(argv[1], "allowing") == 0 ? answer_one(SYS_reboot, SECCOMP_RET_KILL_PROCESS)
      : strcmp(argv[1], "one") == 0      ? answer_one(SYS_getpid, SECCOMP_RET_KILL_PROCESS)
      : strcmp(argv[1], "denying") == 0  ? answer_one(SYS_openat, SECCOMP_RET_ERRNO | EPERM)
      : strcmp(argv[1], "refused") == 0  ? try_refused()
                                         : allow_few(argv[1]);
  if (failed) return 1;
  for (long i = atol(argv[2]); i > 0; i--) call();
  char text[32];
  const int length = snprintf(text, sizeof text, "%ld\n", calls);
  if (write(1, text, (size_t)length) != length) return 1;
  // All that strict mode leaves.
  if (strict) syscall(SYS_exit, 0);
  return 0;
}

// usage: withdraws descriptors|directory|root|user|limit CALLS
// Calls once, takes a right from itself, and calls so often. Prints its calls.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shape.h"

static volatile long calls;

CALL static void call(void) { calls++; }

PLAIN static int withdraw(const char* what) {
  if (strcmp(what, "descriptors") == 0) return close_range(3, ~0u, 0);
  if (strcmp(what, "directory") == 0) return chdir("/");
  if (strcmp(what, "root") == 0) return chroot("/proc/self") != 0 || chdir("/") != 0;
  if (strcmp(what, "user") == 0) return setgid(65534) != 0 || setuid(65534) != 0;
  const struct rlimit none = {0, 0};
  return setrlimit(RLIMIT_NOFILE, &none);
}

PLAIN int main(int argc, char** argv) {
  if (argc < 3) return 2;
  call();
  if (withdraw(argv[1]) != 0) return 1;
  for (long i = atol(argv[2]); i > 0; i--) call();
  printf("%ld\n", calls);
  return 0;
}

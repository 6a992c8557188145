// worker CALLS: a server's manner: it gives up root's rights, then two children work and end at
// once.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int job(int i) {
  __asm__ volatile("");
  return i + 1;
}

int main(int count, char** arguments) {
  const int calls = count > 1 ? atoi(arguments[1]) : 1;
  if (setgid(1) != 0 || setuid(1) != 0) return 9;
  for (int child = 0; child < 2; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      int done = 0;
      while (done < calls) done = job(done);
      _exit(0);
    }
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0) return 8;
  }
  return job(6);
}

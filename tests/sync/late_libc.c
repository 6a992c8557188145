// libc's pthread_cond_signal, of its version, with time before its first instruction.
#include <dlfcn.h>
#include <pthread.h>

// Of the program.
void begin_to_wait(void);

int pthread_cond_signal(pthread_cond_t* condition) {
  int (*real)(pthread_cond_t*);
  *(void**)&real = dlvsym(RTLD_NEXT, "pthread_cond_signal", "GLIBC_2.3.2");
  begin_to_wait();
  return real(condition);
}

// usage: overlap LIBRARY
//
// Opens a library whose code has the same low 32 bits of its addresses as the function that takes a
// lock here: fills every hole of the address space that the loader would take first, and leaves one
// where it is wanted. Takes a lock in each, for which two threads wait at the end.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int Take(pthread_mutex_t* lock);

static pthread_mutex_t ours = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t theirs = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noipa)) static int take_in_program(pthread_mutex_t* lock) {
  return pthread_mutex_lock(lock);
}

static void* want(void* lock) {
  pthread_mutex_lock(lock);
  return NULL;
}

struct Extent {
  uintptr_t start, end;
};

static int measure(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  if (strstr(info->dlpi_name, "sync-overlap-library") == NULL) return 0;
  struct Extent* const extent = data;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)* const header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD) continue;
    const uintptr_t start = (info->dlpi_addr + header->p_vaddr) & ~(uintptr_t)4095;
    const uintptr_t end =
        (info->dlpi_addr + header->p_vaddr + header->p_memsz + 4095) & ~(uintptr_t)4095;
    if (extent->start == 0 || start < extent->start) extent->start = start;
    if (end > extent->end) extent->end = end;
  }
  return 0;
}

static Take* open_library(const char* path, void** handle) {
  *handle = dlopen(path, RTLD_NOW);
  Take* function = NULL;
  if (*handle != NULL) *(void**)&function = dlsym(*handle, "take_in_library");
  if (function == NULL) abort();
  return function;
}

static char* reserve(size_t bytes) {
  char* const memory =
      mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) abort();
  return memory;
}

/// Makes the only hole of so many bytes the one in which offset `at` is `wanted`, modulo 4 GiB.
static void leave_one_hole(size_t bytes, uintptr_t at, uintptr_t wanted) {
  const size_t most = (size_t)1 << 32;
  char* const low = reserve(most + bytes);  // larger than the holes: below them all
  while (reserve(bytes) > low) continue;
  const uintptr_t start = (uintptr_t)low;
  munmap((void*)(start + (uint32_t)(wanted - at - start)), bytes);
}

int main(int count, char** arguments) {
  if (count != 2) return 2;

  void* handle;
  Take* take = open_library(arguments[1], &handle);
  struct Extent extent = {0, 0};
  dl_iterate_phdr(measure, &extent);
  const uintptr_t at = (uintptr_t)take - extent.start;
  dlclose(handle);
  leave_one_hole(extent.end - extent.start, at & ~(uintptr_t)4095,
                 (uintptr_t)take_in_program & ~(uintptr_t)4095);
  take = open_library(arguments[1], &handle);
  const uintptr_t distance = (uintptr_t)take - (uintptr_t)take_in_program;
  printf("%d\n", (uint32_t)(distance + 4095) < 8191);

  take_in_program(&ours);
  take(&theirs);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, want, &ours);
  pthread_create(&threads[1], NULL, want, &theirs);
  usleep(100000);
  fflush(NULL);
  _exit(0);
}

// Opens a library at such an address that its text and the program's overlap modulo 4 GiB: fills
// every hole of the address space that the loader would take first, and leaves one where it is
// wanted. Calls before, then into both while the library is open, and when it is closed. Prints the
// calls of the program and of the library, and whether the two overlapped.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shape.h"

typedef int Function(void);

static volatile long calls;

CALL static void call(void) { calls++; }

struct Extent {
  uintptr_t start, end;
};

PLAIN static int measure(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  if (strstr(info->dlpi_name, "twin-3.so") == NULL) return 0;
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

PLAIN static Function* open_library(void** handle) {
  *handle = dlopen("twin-3.so", RTLD_NOW);
  Function* function = NULL;
  if (*handle != NULL) *(void**)&function = dlsym(*handle, "twin");
  if (function == NULL) abort();
  return function;
}

PLAIN static char* reserve(size_t bytes) {
  char* const memory =
      mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) abort();
  return memory;
}

/// Makes the only hole of so many bytes the one in which offset `at` is `wanted`, modulo 4 GiB.
PLAIN static void leave_one_hole(size_t bytes, uintptr_t at, uintptr_t wanted) {
  const size_t most = (size_t)1 << 32;
  char* const low = reserve(most + bytes);  // larger than the holes: below them all
  while (reserve(bytes) > low) continue;
  const uintptr_t start = (uintptr_t)low;
  munmap((void*)(start + (uint32_t)(wanted - at - start)), bytes);
}

PLAIN int main(void) {
  for (int i = 0; i < 100; i++) call();
  void* handle;
  Function* function = open_library(&handle);
  struct Extent extent = {0, 0};
  dl_iterate_phdr(measure, &extent);
  const uintptr_t at = (uintptr_t)function - extent.start;
  dlclose(handle);

  leave_one_hole(extent.end - extent.start, at & ~(uintptr_t)4095,
                 (uintptr_t)call & ~(uintptr_t)4095);
  function = open_library(&handle);
  const uintptr_t distance = (uintptr_t)function - (uintptr_t)call;
  long in_library = 0;
  for (int i = 0; i < 1000; i++) {
    call();
    in_library += function() == 3;
  }
  dlclose(handle);
  for (int i = 0; i < 100; i++) call();
  printf("%ld %ld %d\n", calls, in_library, (uint32_t)(distance + 4095) < 8191);
  return 0;
}

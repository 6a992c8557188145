// Opens libraries where they are wanted: fills every hole of the address space that the loader
// would take first, and leaves one.
#ifndef HOLE_H
#define HOLE_H

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shape.h"

/// A loaded module: a part of its name, and its addresses.
struct Extent {
  const char* name;
  uintptr_t start, end;
};

PLAIN static int measure(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct Extent* const extent = data;
  if (strstr(info->dlpi_name, extent->name) == NULL) return 0;
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

/// Opens a library and gives the address of its function `name`; aborts if there is none.
PLAIN static void* open_library(const char* path, const char* name, void** handle) {
  *handle = dlopen(path, RTLD_NOW);
  void* const function = *handle != NULL ? dlsym(*handle, name) : NULL;
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

/// The same, with its function on the page that has the same low 32 bits as that of `wanted`.
PLAIN static void* open_over(const char* path, const char* name, uintptr_t wanted, void** handle) {
  const char* const slash = strrchr(path, '/');
  struct Extent extent = {slash != NULL ? slash + 1 : path, 0, 0};
  const uintptr_t function = (uintptr_t)open_library(path, name, handle);
  dl_iterate_phdr(measure, &extent);
  dlclose(*handle);
  leave_one_hole(extent.end - extent.start, (function - extent.start) & ~(uintptr_t)4095,
                 wanted & ~(uintptr_t)4095);
  return open_library(path, name, handle);
}

/// Whether two addresses are less than a page apart in their low 32 bits.
PLAIN static int overlap(uintptr_t one, uintptr_t other) {
  return (uint32_t)(one - other + 4095) < 8191;
}

#endif

/* The hooks that the article on the function call tracer describes (section 3.1): the time of day
 * in microseconds, dladdr() for the names of the callee and the caller, a line of text for each
 * event. One lock keeps the lines of several threads apart: stdio's own.
 *
 * With LAB_PATTERN set, only calls of functions in whose names it is: "before printing function
 * trace in the tracer library, check if the function names match a string pattern" (4). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "hooks.h"

static FILE* log_file;
static const char* pattern;

__attribute__((constructor)) static void open_log(void) {
  pattern = getenv("LAB_PATTERN");
  log_file = lab_open("naive.log");
}

static const char* name_of(void* address) {
  Dl_info found;
  return dladdr(address, &found) != 0 && found.dli_sname != NULL ? found.dli_sname : "<unknown>";
}

static void write_event(const char* what, void* function, void* call_site) {
  const char* const name = name_of(function);
  if (pattern != NULL && strstr(name, pattern) == NULL) return;
  struct timeval time;
  gettimeofday(&time, NULL);
  fprintf(log_file, "%ld.%06ld - %s: %s called: %s\n", (long)time.tv_sec, (long)time.tv_usec, what,
          name, name_of(call_site));
}

void __cyg_profile_func_enter(void* function, void* call_site) {
  if (log_file != NULL) write_event("Enter", function, call_site);
}

void __cyg_profile_func_exit(void* function, void* call_site) {
  if (log_file != NULL) write_event("Exit", function, call_site);
}

__attribute__((destructor)) static void close_log(void) {
  FILE* const file = log_file;
  log_file = NULL;
  lab_close(file);
}

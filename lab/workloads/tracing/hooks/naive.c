/* The hooks that the article on the function call tracer describes (section 3.1): the time of day
 * in microseconds, dladdr() for the names of the callee and the caller, a line of text for each
 * event. One lock keeps the lines of several threads apart: stdio's own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>

#include "hooks.h"

static FILE* log_file;

__attribute__((constructor)) static void open_log(void) { log_file = lab_open("naive.log"); }

static const char* name_of(void* address) {
  Dl_info found;
  return dladdr(address, &found) != 0 && found.dli_sname != NULL ? found.dli_sname : "<unknown>";
}

static void write_event(const char* what, void* function, void* call_site) {
  struct timeval time;
  gettimeofday(&time, NULL);
  fprintf(log_file, "%ld.%06ld - %s: %s called: %s\n", (long)time.tv_sec, (long)time.tv_usec, what,
          name_of(function), name_of(call_site));
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

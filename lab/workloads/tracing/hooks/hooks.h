#pragma once

#include <stdio.h>

/* Libraries of hooks that are preloaded into a traced program, each to measure one thing. */
#define HOOK __attribute__((visibility("default")))

HOOK void __cyg_profile_func_enter(void* function, void* call_site);
HOOK void __cyg_profile_func_exit(void* function, void* call_site);

/* main.c calls it on each thread when its work is done. */
HOOK void lab_thread_ends(void);

/* The file `name`, new, in the directory that LAB_TRACE names. Says why and aborts if it cannot be
 * written. */
FILE* lab_open(const char* name);
/* Says why and aborts if what was written is not in the file. */
void lab_close(FILE* file);

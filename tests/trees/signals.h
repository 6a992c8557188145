// What programs with signals' handlers on an alternate stack begin with. None of it is recorded.
#pragma once
#include <signal.h>
#include <string.h>

#define NOT_RECORDED __attribute__((no_instrument_function, unused))

// Handlers run on this stack from now on.
NOT_RECORDED static void handle_on(char* stack, size_t bytes) {
  stack_t alternate;
  memset(&alternate, 0, sizeof alternate);
  alternate.ss_sp = stack;
  alternate.ss_size = bytes;
  sigaltstack(&alternate, NULL);
}

NOT_RECORDED static void handle(int signal, void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(signal, &action, NULL);
}

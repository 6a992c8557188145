// Calls functions through tables, as coroutines are called by their frames, and then without: when
// a table is in no register or word any more but where it was, the memory is gone. No optimisation
// less than -O1, or they have frame pointers of their own. Prints nothing, and ends with 7.
#include <stddef.h>
#include <sys/mman.h>

#include "shape.h"

struct table {
  void (*call)(struct table*);
  long other;
};

static int calls;
CALL static void from_register(struct table* table) { calls += table != NULL ? 1 : 2; }
CALL static void from_stack(struct table* table) { calls += table != NULL ? 1 : 2; }
CALL static void from_argument(struct table* table) { calls += table != NULL ? 1 : 2; }

/// Calls a function with these values in rdi, rbx and rbp.
void call_with(void* rdi, void (*function)(struct table*), void* rbx, void* rbp);
__asm__(
    "	.text\n"
    "call_with:\n"
    "	push	%rbx\n"
    "	push	%rbp\n"
    "	sub	$8, %rsp\n"
    "	mov	%rdx, %rbx\n"
    "	mov	%rcx, %rbp\n"
    "	call	*%rsi\n"
    "	add	$8, %rsp\n"
    "	pop	%rbp\n"
    "	pop	%rbx\n"
    "	ret\n");

enum { kTables = 64, kRounds = 4 };

PLAIN int main(void) {
  const size_t size = kTables * sizeof(struct table);
  struct table* const tables =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (tables == MAP_FAILED) return 1;
  for (int i = 0; i < kRounds * kTables; ++i) {
    struct table* const table = &tables[i % kTables];
    struct table* words[4] = {table, NULL, NULL, NULL};
    table->call = from_register;
    call_with(table, from_register, table, NULL);
    table->call = from_stack;
    call_with(table, from_stack, NULL, words + 2);
    table->call = from_argument;
    call_with(table, from_argument, NULL, NULL);
  }
  if (munmap(tables, size) != 0) return 2;
  call_with(NULL, from_register, tables, NULL);
  call_with(NULL, from_stack, NULL, (void*)64);
  call_with(tables, from_argument, NULL, NULL);
  return calls == 3 * kRounds * kTables + 5 ? 7 : 3;
}

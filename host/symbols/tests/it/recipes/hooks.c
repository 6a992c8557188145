/* Hooks that write down, at every enter, what a recipe may speak of: registers and stack as the
 * hook was called with them, and the frame that the program says it is about. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Set by the program right before every activation. */
void* expected_frame;

/* Where the program lies. */
extern char* program_start;

struct entry {
  uint64_t function, returns_to, rbx, rbp, r12, r13, r14, r15, sp;
};

struct record {
  struct entry entry;
  uint64_t expected;
  uint64_t below_rbp[64]; /* k: the word at rbp - 8 (k + 1) */
  uint64_t above_sp[128];
  uint8_t frame[256]; /* the frame's first bytes */
};

/* Called by __cyg_profile_func_enter below. */
void entered(const struct entry* entry);
void entered(const struct entry* entry) {
  struct record record;
  memset(&record, 0, sizeof record);
  record.entry = *entry;
  record.entry.function -= (uint64_t)program_start;
  record.entry.returns_to -= (uint64_t)program_start;
  record.expected = (uint64_t)expected_frame;
  if (entry->rbp > entry->sp && entry->rbp < entry->sp + 65536)
    for (int k = 0; k < 64; k++) record.below_rbp[k] = *(uint64_t*)(entry->rbp - 8 * (k + 1));
  memcpy(record.above_sp, (void*)entry->sp, sizeof record.above_sp);
  if (expected_frame) memcpy(record.frame, expected_frame, sizeof record.frame);
  fwrite(&record, sizeof record, 1, stdout);
}

__attribute__((naked)) void __cyg_profile_func_enter(void* function, void* site) {
  __asm__(
      "sub $72, %rsp\n"
      "mov %rdi, (%rsp)\n"
      "mov 72(%rsp), %rax\n" /* the return address */
      "mov %rax, 8(%rsp)\n"
      "mov %rbx, 16(%rsp)\n"
      "mov %rbp, 24(%rsp)\n"
      "mov %r12, 32(%rsp)\n"
      "mov %r13, 40(%rsp)\n"
      "mov %r14, 48(%rsp)\n"
      "mov %r15, 56(%rsp)\n"
      "lea 80(%rsp), %rax\n" /* rsp before the call */
      "mov %rax, 64(%rsp)\n"
      "mov %rsp, %rdi\n"
      "call entered\n"
      "add $72, %rsp\n"
      "ret\n");
}

void __cyg_profile_func_exit(void* function, void* site) {
  (void)function;
  (void)site;
}

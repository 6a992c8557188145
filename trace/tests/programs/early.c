// Calls as early as a program can: from .preinit_array, before libc has set `environ`.
static volatile int calls;

static void call(void) { calls++; }

static void first(void) { call(); }

__attribute__((section(".preinit_array"), used)) static void (*const hook)(void) = first;

int main(void) {
  call();
  return calls == 2 ? 0 : 1;
}

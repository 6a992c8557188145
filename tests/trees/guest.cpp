// A plugin that throws exceptions, for a program that has none: see guest_main.c.

extern "C" {

__attribute__((noinline)) void fails() { throw 1; }

__attribute__((noinline)) void handles() { asm volatile(""); }

/// How often it was called since the plugin was loaded.
int work() {
  static int times = 0;
  try {
    fails();
  } catch (int) {
    handles();
  }
  return ++times;
}
}

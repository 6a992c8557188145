// A comparator that libc's qsort calls: its caller is not instrumented. How often is libc's affair,
// so the program prints its own count.
#include <stdio.h>
#include <stdlib.h>

static long compared;

static int compare(const void* a, const void* b) {
  compared++;
  const int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

static void sort(int* numbers, size_t count) { qsort(numbers, count, sizeof *numbers, compare); }

int main(void) {
  int numbers[] = {5, 3, 8, 1, 9, 2, 7, 4, 6, 0};
  sort(numbers, sizeof numbers / sizeof *numbers);
  for (int i = 0; i < 10; i++) {
    if (numbers[i] != i) return 1;
  }
  printf("compare %ld\n", compared);
  return 0;
}

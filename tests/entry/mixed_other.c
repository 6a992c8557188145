// See mixed.c.
int here(int n);
int there(int n) { return n == 0 ? 0 : here(n - 1) + 1; }

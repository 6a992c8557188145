// Half of this program has the one kind of hooks, and half the other; each calls the other's.
int there(int n);
int here(int n) { return n == 0 ? 0 : there(n - 1) + 1; }
int main(void) { return here(6) == 6 ? 0 : 1; }

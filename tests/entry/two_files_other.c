__attribute__((noipa)) int other(int n) { return n + 1; }

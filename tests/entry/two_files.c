// A program of two files, which -flto compiles as one: each brings the hooks' definitions.
int other(int n);

int main(void) { return other(3) - 4; }

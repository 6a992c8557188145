// Calls resolver_library.c.
int library(void);

int main(void) { return library() == 1 ? 0 : 1; }

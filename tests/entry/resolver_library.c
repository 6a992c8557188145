// A library's IFUNC with an instrumented resolver.
static int one(void) { return 1; }

static int supported(void) { return 1; }

static int (*resolve(void))(void) { return supported() ? one : 0; }

static int chosen(void) __attribute__((ifunc("resolve")));

int library(void) { return chosen(); }

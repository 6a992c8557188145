// Opened and closed by plugin_main.c. Its constructor runs before dlopen returns, its destructor
// within dlclose.
static volatile int calls;

static void helper(void) { calls++; }

__attribute__((constructor)) static void plugin_start(void) { helper(); }

__attribute__((destructor)) static void plugin_stop(void) { helper(); }

int plugin_work(void);
int plugin_work(void) {
  helper();
  return calls;
}

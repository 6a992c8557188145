// Static functions of a PIE program: their names are in .symtab alone, never in .dynsym.
static volatile int sink;

static void innermost(void) { sink++; }

static void inner(void) {
  innermost();
  innermost();
}

static void outer(void) { inner(); }

int main(void) {
  outer();
  inner();
  return sink == 4 ? 0 : 1;
}

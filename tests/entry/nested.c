// GNU C's nested functions, which get the address of their container's frame in a register: GCC
// saves that on the stack around the call of __fentry__. They call, are called in turn and by each
// other, and recurse.
static volatile long sum;

static void leaf(void) { sum++; }

static void outer(long rounds) {
  long local = rounds;
  void inner(long more) {
    local += more;
    leaf();
  }
  void deeper(long more) {
    inner(more);
    if (more > 0) deeper(more - 1);
  }
  inner(1);
  deeper(1);
  leaf();
  sum += local;
}

int main(void) {
  outer(1);
  leaf();
  outer(2);
  return sum == 16 ? 0 : 1;
}

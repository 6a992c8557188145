// Functions whose readable names begin with a return type, and end with parameters.
static volatile int result;

namespace lib {

template <typename T>
T add(T a, T b) {
  result = a;
  return a + b;
}

int sub(int a, int b) {
  result = b;
  return a - b;
}

}  // namespace lib

int main() {
  result = lib::add(1, 2);
  result = lib::sub(2, 1);
  return 0;
}

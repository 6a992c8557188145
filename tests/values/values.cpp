// Functions of many kinds of parameters and results; values.expected, and of `three` the program
// itself, says what each call is given and gives back.
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#define CALLED __attribute__((noinline, noipa))
#define UNRECORDED __attribute__((no_instrument_function))

namespace {

/// Has an effect, so that a call of it ends nothing early and is not optimised away.
volatile long effects = 0;
void effect() { effects = effects + 1; }

}  // namespace

enum class Color : unsigned char { kRed = 1, kGreen, kBlue = 7 };
enum Access { kRead = 1, kWrite = 2, kExecute = 4 };
struct Point {
  int x, y;
};
struct Mixed {
  long id;
  double weight;
};
struct Triple {
  float a, b, c;
};
struct Large {
  long id;
  char name[16];
  Point at;
  bool set;
};
struct Spread {
  char first;
  int all[3];
};
struct Pair {
  long first, second;
};
struct Twin {
  int all[2];
};
struct Alone {
  short value;
};
struct Date {
  int year, month, day;
};
using Four = float __attribute__((vector_size(16)));
struct Lanes {
  Four all;
};
struct __attribute__((packed)) Packed {
  char first;
  int second;
};
struct Code {
  char all[6];
  int number;
};
struct Empty {};
struct Flags {
  unsigned low : 3;
  int high : 5;
};

CALLED int integers(int a, long b, short c, std::uint8_t d) {
  effect();
  return a + static_cast<int>(b) + c + d;
}
CALLED unsigned unsigned_one(unsigned value) {
  effect();
  return value;
}
CALLED bool flip(bool value) {
  effect();
  return !value;
}
CALLED char next(char value) {
  effect();
  return static_cast<char>(value + 1);
}
CALLED char signs(char a, char b, char quote) {
  effect();
  return a < 0 && b < 0 ? quote : a;
}
CALLED float single(float value) {
  effect();
  return value;
}
CALLED double both(double a, float b) {
  effect();
  return a + static_cast<double>(b);
}
CALLED Color color(Color value) {
  effect();
  return value;
}
CALLED Access access(Access value) {
  effect();
  return value;
}
CALLED long many(int a, int b, int c, int d, int e, int f, int g, long h) {
  effect();
  return a + b + c + d + e + f + g + h;
}
// The wide one lies on the stack behind a word of padding.
CALLED int padded(int a, int b, int c, int d, int e, int f, int g, __int128 wide, short h) {
  effect();
  return a + b + c + d + e + f + g + static_cast<int>(wide >> 100) + h;
}
CALLED const char* text(const char* value) {
  effect();
  return value;
}
CALLED int nothing(const char* value) {
  effect();
  return value == nullptr ? 0 : 1;
}
CALLED int nowhere(const char*) {
  effect();
  return 1;
}
CALLED int astray(const std::string& name) {
  effect();
  return reinterpret_cast<std::uintptr_t>(&name) == 16 ? 1 : 0;
}
CALLED int far(int& value) {
  effect();
  return reinterpret_cast<std::uintptr_t>(&value) == 16 ? 1 : 0;
}
struct Letters {
  char all[80];
};
CALLED char letters(const Letters& value) {
  effect();
  return value.all[79];
}
CALLED std::string join(const std::string& a, std::string b) {
  effect();
  return a + b;
}
CALLED std::size_t view(std::string_view value) {
  effect();
  return value.size();
}
CALLED std::string_view tail(std::string_view value) {
  effect();
  return value.substr(1);
}
CALLED Point mirrored(Point value) {
  effect();
  return {value.y, value.x};
}
CALLED Mixed mixed(Mixed value) {
  effect();
  return {value.id + 1, value.weight};
}
CALLED Triple triple(Triple value) {
  effect();
  return value;
}
CALLED Large large(Large value, int behind) {
  effect();
  value.id += behind;
  return value;
}
// At -O2 only one element of the first parameter is kept.
CALLED Spread spread(Spread value, const double& by, int behind) {
  effects = effects + value.all[0] + static_cast<long>(by) + behind;
  return value;
}
// At -O2 GCC extends the first element before it calls the hook, in the register in which, by its
// debug information, both are.
CALLED long first(Twin value) {
  effects = effects + value.all[0];
  return 1;
}
// At -O2 GCC stores only the half that it uses where, by its debug information, the structure is.
CALLED UNRECORDED void touch(const int* value) { effects = effects + *value; }
CALLED int day(Date value, int behind) {
  touch(&behind);
  return value.day;
}
// What the function puts in the place of a parameter at once is not what it was given.
CALLED int replaced(int value, double by, bool set) {
  value = 99;
  by = 2.5;
  set = true;
  asm volatile("" : : "r"(value), "x"(by), "r"(static_cast<int>(set)) : "memory");
  return value;
}
CALLED int moved(int value, int by) {
  value = by;
  asm volatile("" : : "r"(value) : "memory");
  return value;
}
// Of what takes two registers, GCC knows no other value than what a later statement sets.
CALLED int settled(int at, __int128 value) {
  effects = effects + at + static_cast<long>(value);
  value = -7;
  while (effects == -1) ++at;
  return at;
}
// Both halves are in registers, it says, and sets the one that it uses.
CALLED long half(int at, __int128 value) {
  value = value + 1;
  effects = effects + at;
  effects = effects + static_cast<long>(value);
  return static_cast<long>(value);
}
// It says where this one is with DW_OP_GNU_uninit, an operation that readers need not know.
CALLED long perhaps(Alone value, long at) {
  effects = effects + value.value;
  switch (effects) {
    case -1:
      effects = 1;
      break;
    case -2:
      value.value = 4892;
      break;
  }
  effects = effects + at;
  return at;
}
// At -O2 GCC sets the letter in a register before it calls the hook.
struct Sixteen {
  char all[16];
};
CALLED Sixteen marked(Sixteen value, int behind) {
  (void)behind;
  value.all[1] = 'Y';
  return value;
}
CALLED Four scaled(int behind, Four value, float by) {
  effects = effects + behind;
  return value * by;
}
CALLED Lanes lanes(Lanes value, double by, int behind) {
  effects = effects + static_cast<long>(by) + behind;
  return value;
}
// As a member is not where others of its type are, it is passed and returned in memory.
CALLED Packed packed(Packed value, int behind) {
  effects = effects + behind;
  return value;
}
CALLED int code(Code value) {
  effect();
  return value.number;
}
CALLED int empty(Empty, int value) {
  effect();
  return value;
}
CALLED int flags(Flags value) {
  effect();
  return value.low;
}
CALLED int& reference(int& value) {
  effect();
  ++value;
  return value;
}
CALLED void nothing_back(int value) {
  effect();
  (void)value;
}
CALLED int called(int (*function)(Point), Point at) {
  const int result = function(at);
  effect();
  return result;
}
CALLED int sum(Point at) {
  effect();
  return at.x + at.y;
}
CALLED long double wide(long double value) {
  effect();
  return value;
}
// What it returns is not in memory, so the first argument is where it always is.
/// Of types that are not read; what is beside them is.
CALLED __complex__ double turned(int before, __complex__ double value, int behind) {
  effect();
  return value * (before + behind);
}

// Its name is C's, as GCC 12's library does not read the other one.
extern "C" CALLED _Float16 halved(_Float16 value, float by) {
  effect();
  return value * static_cast<_Float16>(by);
}

CALLED long double quotient(long long a, long double b, int c) {
  effect();
  return a / b + c;
}
struct Precise {
  long double value;
  int behind;
};
CALLED int precise(long double a, Precise b, const long double& c) {
  effect();
  return a > c ? b.behind + 1 : b.behind;
}
template <typename T>
CALLED T twice(T value) {
  effect();
  return value + value;
}

/// Kinds of parameters that are recorded in different ways: their names, a value and how it prints,
/// and the part of it that `three` uses: GCC keeps no more at -O2.
template <typename T>
struct Kind;
template <>
struct Kind<long> {
  static constexpr const char *kName = "long", *kText = "-5000000000";
  static long value() { return -5000000000; }
  UNRECORDED static long used(long value) { return value; }
};
template <>
struct Kind<const double&> {
  static constexpr const char *kName = "double const&", *kText = "-100.5";
  static constexpr double kValue = -100.5;
  static const double& value() { return kValue; }
  UNRECORDED static long used(const double& value) { return static_cast<long>(value); }
};
template <>
struct Kind<const char*> {
  static constexpr const char *kName = "char const*", *kText = "\"nine here\"";
  static const char* value() { return "nine here"; }
  UNRECORDED static long used(const char* value) { return value[0]; }
};
template <>
struct Kind<std::string_view> {
  static constexpr const char *kName = "std::string_view", *kText = "\"view\"";
  static std::string_view value() { return "view"; }
  UNRECORDED static long used(std::string_view value) { return static_cast<long>(value.size()); }
};
template <>
struct Kind<Spread> {
  static constexpr const char *kName = "Spread", *kText = "{first = 'a', all = [7, 0, 9]}";
  static Spread value() { return {'a', {7, 0, 9}}; }
  UNRECORDED static long used(const Spread& value) { return value.all[0]; }
};
template <>
struct Kind<Pair> {
  static constexpr const char *kName = "Pair", *kText = "{first = 9, second = 10}";
  static Pair value() { return {9, 10}; }
  UNRECORDED static long used(const Pair& value) { return value.second; }
};

template <typename A, typename B, typename C>
CALLED long three(A a, B b, C c) {
  effects = effects + Kind<A>::used(a) + Kind<B>::used(b) + Kind<C>::used(c);
  effect();
  return Kind<A>::used(a) + Kind<B>::used(b) + Kind<C>::used(c);
}

/// Calls `three`, and prints the line that values.expected would have for it.
template <typename A, typename B, typename C>
void with_three() {
  const long result = three<A, B, C>(Kind<A>::value(), Kind<B>::value(), Kind<C>::value());
  const char *a = Kind<A>::kName, *b = Kind<B>::kName, *c = Kind<C>::kName;
  std::printf("long three<%s, %s, %s>(%s, %s, %s) {a = %s, b = %s, c = %s} = %ld\n", a, b, c, a, b,
              c, Kind<A>::kText, Kind<B>::kText, Kind<C>::kText, result);
}
template <typename A, typename B, typename... All>
void with_two() {
  (with_three<A, B, All>(), ...);
}
template <typename A, typename... All>
void with_one() {
  (with_two<A, All, All...>(), ...);
}
/// Each kind in front of, between and behind all others.
template <typename... All>
void threes() {
  (with_one<All, All...>(), ...);
}

class Shop {
 public:
  explicit Shop(int number);
  int order(int count, bool fast) const;
  static int open(int at);

 private:
  int number_;
};
CALLED Shop::Shop(int number) : number_(number) { effect(); }
CALLED int Shop::order(int count, bool fast) const {
  effect();
  return fast ? count + number_ : count;
}
CALLED int Shop::open(int at) {
  effect();
  return at;
}

int main() {
  integers(-1, 1L << 40, -7, 200);
  unsigned_one(4294967295u);
  flip(true);
  next('a');
  signs(static_cast<char>(-1), static_cast<char>(-128), '\'');
  single(1.5f);
  both(0.25, -2.5f);
  color(Color::kBlue);
  access(static_cast<Access>(kRead | kExecute));
  many(1, 2, 3, 4, 5, 6, 7, -8);
  padded(1, 2, 3, 4, 5, 6, 7, static_cast<__int128>(1) << 100 | 9, -5);
  text("hello \"you\"\n");
  nothing(nullptr);
  nowhere(reinterpret_cast<const char*>(16));
  // Read at run time, so that the compiler does not see where it leads.
  const std::string* volatile nowhere_at = reinterpret_cast<const std::string*>(16);
  astray(*nowhere_at);
  int* volatile far_at = reinterpret_cast<int*>(16);
  far(*far_at);
  Letters many_letters;
  for (char& letter : many_letters.all) letter = 'q';
  letters(many_letters);
  join("left",
       "a text that is longer than the small ones that a string holds itself, so that it is cut");
  view("view");
  // Behind the first page nothing can be read.
  char* const pages = static_cast<char*>(
      mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(pages + 4096, 4096, PROT_NONE);
  std::memcpy(pages + 4092, "edge", 4);
  view({pages + 4092, 40});
  std::memcpy(pages + 4088, "abc", 4);
  view({pages + 4088, std::string_view::npos});
  tail("xyz");
  mirrored({3, -4});
  mixed({9, 2.5});
  triple({1, 2, 3});
  large({1, "name", {5, 6}, true}, 41);
  spread({'a', {7, 0, 9}}, -100.5, 1000);
  first({-3, 4});
  day({2002, 2, 12}, 3);
  replaced(1, 1.5, false);
  moved(1, 2);
  settled(1, 12345);
  half(1, -8);
  perhaps({3}, 4);
  marked({"fifteen chars.."}, 4);
  scaled(3, Four{1, 2, 3, -4}, 0.5f);
  lanes({Four{5, 6, 7, 8}}, 2.5, 3);
  packed({'p', -70000}, 3);
  code({{'a', 'b', 0, 'x', 'k', 1}, 5});
  empty({}, 5);
  flags({5, -3});
  int value = 41;
  reference(value);
  nothing_back(3);
  called(sum, {1, 2});
  wide(-0.5L);
  turned(1, {2.5, -1}, 3);
  halved(_Float16{1.5}, 0.5F);
  quotient(4, -0.5L, 3);
  precise(1e4000L, {9007199254740993.0L, 1}, -3.3621e-4932L);
  precise(0.1L, {0x1.fffffffffffffffep0L, 2}, static_cast<long double>(0.1));
  twice(21);
  twice(0.125);
  Shop shop(7);
  shop.order(3, true);
  Shop::open(8);
  threes<long, const double&, const char*, std::string_view, Spread, Pair>();
  std::printf("%ld\n", effects);
}

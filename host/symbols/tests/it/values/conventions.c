// Functions that are called otherwise than by a prototype and the System V ABI.
// clang-format off
double promoted(letter, single, twice) char letter;
float single;
double twice;
{
  return letter + single + twice;
}
// clang-format on
double prototyped(char letter, float single, double twice) { return letter + single + twice; }

struct Pair {
  long first, second;
};
__attribute__((ms_abi)) struct Pair foreign(int number, struct Pair pair) {
  pair.first += number;
  return pair;
}

// Its debug information counts from the stack pointer.
double aligned(int number, double twice) {
  _Alignas(64) volatile char all[64] = {0};
  return all[number] + twice;
}

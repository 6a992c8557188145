// Functions that are called otherwise than by a prototype and the System V ABI, and some whose
// debug information says less than it seems to.
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

static volatile long effects;

/* A parameter is set to a constant that debug information has for the whole function. */
__attribute__((noipa)) int settled(int at, __int128 value) {
  effects = effects + at + (long)value;
  value = -7;
  while (effects == -1) ++at;
  return at;
}

/* Of a parameter in two registers the first one alone is set. */
__attribute__((noipa)) long half(int at, __int128 value) {
  value = value + 1;
  effects = at;
  effects = (long)value;
  return effects;
}

struct alone {
  short value;
};

/* The location of a parameter ends in DW_OP_GNU_uninit. */
__attribute__((noipa)) long perhaps(struct alone value, long at) {
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

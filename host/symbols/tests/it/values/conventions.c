// Functions that are called otherwise than by a prototype.
// clang-format off
double promoted(letter, single, twice) char letter;
float single;
double twice;
{
  return letter + single + twice;
}
// clang-format on
double prototyped(char letter, float single, double twice) { return letter + single + twice; }

// Its debug information counts from the stack pointer.
double aligned(int number, double twice) {
  _Alignas(64) volatile char all[64] = {0};
  return all[number] + twice;
}

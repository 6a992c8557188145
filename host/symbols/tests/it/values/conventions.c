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

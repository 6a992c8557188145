// Linked into each lab program. The build writes the flags that its models are compiled with into a
// source of its own.
#include "harness/program.hpp"

extern const char* const heddle_lab_flags;

int main(int argc, char** argv) { return heddle::lab::program(argc, argv, heddle_lab_flags); }

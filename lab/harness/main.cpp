// Compiled once a lab program, with the flags of its models.
#include "harness/program.hpp"

int main(int argc, char** argv) { return heddle::lab::program(argc, argv, HEDDLE_LAB_FLAGS); }

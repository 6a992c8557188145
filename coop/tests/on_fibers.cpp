#define STACKFUL 1
#include "scheduler_suite.hpp"

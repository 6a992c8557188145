#define STACKFUL 0
#include "scheduler_suite.hpp"

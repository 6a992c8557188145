#define STACKFUL 1
#include "groups_suite.hpp"
#include "semaphore_suite.hpp"

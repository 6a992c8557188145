#define STACKFUL 1
#include "sync_suite.hpp"

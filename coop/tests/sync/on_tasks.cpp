#define STACKFUL 0
#include "sync_suite.hpp"

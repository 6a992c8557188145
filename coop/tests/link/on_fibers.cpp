#define STACKFUL 1
#include "closing_suite.hpp"
#include "links_suite.hpp"

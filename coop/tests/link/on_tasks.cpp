#define STACKFUL 0
#include "closing_suite.hpp"
#include "links_suite.hpp"

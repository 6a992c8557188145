#define STACKFUL 0
#include "files_suite.hpp"
#include "waits_for_io_suite.hpp"

#define STACKFUL 1
#include "groups_suite.hpp"
#include "move_suite.hpp"
#include "offload_suite.hpp"
#include "semaphore_suite.hpp"
#include "sync_suite.hpp"

#define STACKFUL 0
#include "concurrent_suite.hpp"
#include "extending_suite.hpp"
#include "limits_suite.hpp"
#include "scheduler_suite.hpp"
#include "scope_suite.hpp"
#include "select_suite.hpp"
#include "waits_suite.hpp"
#include "when_suite.hpp"

#define STACKFUL 1
#include "datagrams_suite.hpp"
#include "files_suite.hpp"
#include "signals_suite.hpp"
#include "socket_faults_suite.hpp"
#include "sockets_suite.hpp"
#include "waits_for_io_suite.hpp"

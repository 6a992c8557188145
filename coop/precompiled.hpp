// What nearly every source of the runtime includes, compiled once. A source still includes what it
// uses, as the builds of ./dev variants have no precompiled headers.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "heddle/coop/io/service.hpp"
#include "heddle/coop/parallel/group.hpp"
#include "heddle/coop/scheduler.hpp"

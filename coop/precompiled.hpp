// Headers that nearly every source of the runtime includes, precompiled. Each source still includes
// the headers it uses, because the builds of ./dev variants have no precompiled headers.
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

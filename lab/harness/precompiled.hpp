// Headers that nearly every source of the lab includes, precompiled for each set of flags. Each
// source still includes the headers it uses, because ./dev variants have no precompiled headers.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "harness/model.hpp"
#include "harness/team.hpp"
#include "heddle/coop/generator.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/sync/watched.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/when.hpp"

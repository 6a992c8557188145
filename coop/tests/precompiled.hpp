// Headers that nearly every test of the runtime includes, precompiled. Each test still includes the
// headers it uses, because the builds of ./dev variants have no precompiled headers.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "heddle/coop.hpp"

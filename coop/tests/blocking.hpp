// What tests of calls that block need.
#pragma once

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

#include "heddle/coop/context/stack.hpp"

/// Something that another thread waits for, by blocking.
class latch {
 public:
  void open() {
    is_open_ = true;
    is_open_.notify_all();
  }
  void pass() { is_open_.wait(false); }

 private:
  std::atomic<bool> is_open_{false};
};

/// While it lives, the process gets no more than some address space.
class address_limit {
 public:
  address_limit() {
    getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    REQUIRE(pages != 0);
    rlimit limit = before_;
    limit.rlim_cur =
        pages * static_cast<std::size_t>(getpagesize()) + heddle::coop::stack::maximum_bytes / 2;
    REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  }
  ~address_limit() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_;
};

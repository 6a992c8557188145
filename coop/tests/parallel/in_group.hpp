#pragma once

#include "heddle/coop/scheduler.hpp"

/// Two strands that share a table, and wait for each other in every way that strands of one group
/// can, `rounds` times. It outlives them.
class table {
 public:
  table(heddle::coop::scheduler& s, int rounds);
  ~table();
  table(const table&) = delete;
  table& operator=(const table&) = delete;
  void seat_fibers();
  void seat_tasks();
  [[nodiscard]] long eaten() const;

 private:
  struct state;
  state* state_;
};

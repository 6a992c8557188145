#pragma once

#include <utility>
#include <vector>

#include "harness/io_service.hpp"
#include "heddle/coop/io/buffer.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "workloads/io/workload.hpp"

namespace heddle::lab::io {

/// The state that the strands of one run share.
class reading {
 public:
  reading(problem& for_all, const coop::io::service& by) : work(for_all), files_(by) {}

  problem& work;

  [[nodiscard]] coop::io::file open() const { return files_.adopt(work.open(), "the file"); }
  [[nodiscard]] coop::io::buffer buffer() {
    if (spare_.empty()) return coop::io::buffer(work.bytes(), scratch_file::block_bytes);
    coop::io::buffer taken = std::move(spare_.back());
    spare_.pop_back();
    return taken;
  }
  void done_with(coop::io::buffer unused) {
    if (work.reuses_memory()) spare_.push_back(std::move(unused));
  }
  void took(const coop::io::result<std::size_t>& read, const coop::io::buffer& into) {
    work.took(read ? static_cast<std::int64_t>(read.reached()) : -1, into.data());
  }

 private:
  const coop::io::service& files_;
  std::vector<coop::io::buffer> spare_;
};

/// A task's own part, as a coroutine.
inline coop::task<> read_in_task(reading& r) {
  r.work.made_frame();
  const coop::io::file data = r.open();
  coop::io::buffer page = r.buffer();
  for (int i = 0; i < r.work.reads(); ++i) {
    r.work.spoil(page.data());
    r.took(co_await data.read_all(page, 0), page);
  }
  r.done_with(std::move(page));
}

/// Runs what `spawn(scheduler, reading)` makes a strand of, `tasks` times at once.
template <class Spawn>
void run_strands(problem& work, region& timed, Spawn spawn) {
  coop::scheduler s;
  const io_service files(s, work.via(), 256);
  reading r(work, files);
  const auto all = [&] {
    for (int i = 0; i < work.tasks(); ++i) spawn(s, r);
    s.run();
  };
  if (work.reuses_memory()) {
    all();
    work.forget();
  }
  timed.begin();
  all();
  timed.end();
}

}  // namespace heddle::lab::io

#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"
#include "workloads/file/io_uring/shared.hpp"

namespace heddle::lab::file {
namespace {

using namespace coop;

task<int> search(const io::file& data, int id, int from) {
  const std::string wanted = record::beginning(id);
  const io::buffer block(search_bytes);
  for (std::uint64_t offset = offset_of(from);;) {
    const std::size_t got = (co_await data.read_all(block, offset)).value();
    const int line = find_line(block.text(got), wanted);
    if (line >= 0) co_return static_cast<int>(offset / record::bytes) + line;
    if (got == 0) co_return -1;
    offset += got;
  }
}

// While a task waits for the kernel, others run.
task<> client(problem& work, shared& with, int strand) {
  outcome seen;
  const io::buffer line(record::bytes);
  const std::vector<operation>& operations = work.operations();
  const auto step = static_cast<std::size_t>(work.threads());
  for (auto k = static_cast<std::size_t>(strand); k < operations.size(); k += step) {
    const operation& each = operations[k];
    const int id = each.target.id;
    record found;
    bool done = false;
    if (each.what == kind::search) {
      done = co_await search(with.data, id, work.search_from(id)) == id;
    } else {
      const auto held = co_await with.lock_of(each).scoped_lock();
      if (each.what == kind::read) {
        const std::size_t got = (co_await with.data.read_all(line, offset_of(id))).value();
        done = is_record(line.text(got), id, found);
      } else {
        const io::buffer text = io::buffer::copy_of(each.target.line());
        const std::size_t put = (co_await with.data.write_all(text, offset_of(id))).value();
        done = put == record::bytes;
      }
    }
    work.saw(each, done, found, strand, seen);
  }
  work.outcome_of(strand) = seen;
}

void run(problem& work, region& timed) {
  scheduler s;
  shared with(s, work);
  for (int strand = 0; strand < work.threads(); ++strand) s.spawn(client(work, with, strand));
  timed.begin();
  s.run();
  timed.end();
}

const model<problem> cooperative_stackless{"cooperative/stackless", &run};

}  // namespace
}  // namespace heddle::lab::file

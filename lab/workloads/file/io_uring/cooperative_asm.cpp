#include "heddle/coop/await.hpp"
#include "heddle/coop/scheduler.hpp"
#include "workloads/file/io_uring/shared.hpp"

namespace heddle::lab::file {
namespace {

using namespace coop;

/// The file as one fiber uses it: while it waits for the kernel, others run.
class awaited_file {
 public:
  explicit awaited_file(const shared& with) : data_(with.data), line_(record::bytes) {}

  bool read(int id, record& out) {
    const std::size_t got = await(data_.read_all(line_, offset_of(id))).value();
    return is_record(line_.text(got), id, out);
  }
  bool write(const record& wanted) {
    const io::buffer line = io::buffer::copy_of(wanted.line());
    return await(data_.write_all(line, offset_of(wanted.id))).value() == record::bytes;
  }
  int search(int id, int from) {
    const std::string wanted = record::beginning(id);
    const io::buffer block(search_bytes);
    for (std::uint64_t offset = offset_of(from);;) {
      const std::size_t got = await(data_.read_all(block, offset)).value();
      const int line = find_line(block.text(got), wanted);
      if (line >= 0) return static_cast<int>(offset / record::bytes) + line;
      if (got == 0) return -1;
      offset += got;
    }
  }

 private:
  const io::file& data_;
  io::buffer line_;
};

void client(problem& work, shared& with, int strand) {
  awaited_file data(with);
  outcome seen;
  work.for_each_of(strand, [&](const operation& each) {
    if (each.what == kind::search) return work.perform_on(data, each, strand, seen);
    const auto held = await(with.lock_of(each).scoped_lock());
    work.perform_on(data, each, strand, seen);
  });
  work.outcome_of(strand) = seen;
}

void run(problem& work, region& timed) {
  scheduler s;
  shared with(s, work);
  for (int strand = 0; strand < work.threads(); ++strand) {
    s.spawn([&work, &with, strand] { client(work, with, strand); });
  }
  timed.begin();
  s.run();
  timed.end();
}

const model<problem> cooperative_asm{"cooperative/asm", &run};

}  // namespace
}  // namespace heddle::lab::file

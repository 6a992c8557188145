#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "workloads/io/workload.hpp"

namespace heddle::lab::io {
namespace {

struct freed {
  void operator()(void* memory) const { std::free(memory); }
};

void read_one(problem& work) {
  const int fd = work.open();
  // Zeros, as the runtime's buffers.
  const std::unique_ptr<void, freed> page(
      std::aligned_alloc(scratch_file::block_bytes, work.bytes()));
  if (page == nullptr) throw std::bad_alloc();
  __builtin_memset(page.get(), 0, work.bytes());
  for (int i = 0; i < work.reads(); ++i) {
    work.spoil(page.get());
    work.took(pread(fd, page.get(), work.bytes(), 0), page.get());
  }
  close(fd);
}

void run(problem& work, region& timed) {
  timed.begin();
  for (int i = 0; i < work.tasks(); ++i) read_one(work);
  timed.end();
}

const model<problem> registered{"serial", &run};

}  // namespace
}  // namespace heddle::lab::io

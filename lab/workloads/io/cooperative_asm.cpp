// Stackful throughout.
#include <utility>

#include "heddle/coop/await.hpp"
#include "workloads/io/fibers.hpp"

namespace heddle::lab::io {
namespace {

[[gnu::noinline]] void read_in_fiber(reading& r) {
  const coop::io::file data = r.open();
  coop::io::buffer page = r.buffer();
  for (int i = 0; i < r.work.reads(); ++i) {
    r.work.spoil(page.data());
    r.took(coop::await(data.read_all(page, 0)), page);
  }
  r.done_with(std::move(page));
}

const model<problem> registered{"cooperative/asm", &run_fibers<&read_in_fiber>};

}  // namespace
}  // namespace heddle::lab::io

#include <sys/mman.h>

#include <new>

#include "harness/baton.hpp"
#include "harness/throw_errno.hpp"
#include "workloads/switch/processes.hpp"

namespace heddle::lab::switching {
namespace {

// A futex for each process, in shared memory. No process notices that a neighbour has
// died: the run hangs then, and the runner says so.
class ring {
 public:
  explicit ring(int processes) : size_(static_cast<std::size_t>(processes)) {
    void* const memory = mmap(nullptr, size_ * sizeof(shared_baton), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
      throw_errno("no shared memory for the futexes");
    }
    batons_ = static_cast<shared_baton*>(memory);
    for (std::size_t i = 0; i < size_; ++i) new (batons_ + i) shared_baton;
  }
  ~ring() { munmap(batons_, size_ * sizeof(shared_baton)); }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  void become(std::size_t self) {
    mine_ = batons_ + self;
    next_ = batons_ + (self + 1) % size_;
  }
  bool wait() const { return mine_->take(); }
  bool hand_over() const { return next_->give(); }

 private:
  using shared_baton = baton<0>;

  std::size_t size_;
  shared_baton* batons_ = nullptr;
  shared_baton* mine_ = nullptr;
  shared_baton* next_ = nullptr;
};

const model<problem> process_futex{"process/futex", &processes<ring>::run};

}  // namespace
}  // namespace heddle::lab::switching

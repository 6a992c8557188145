// Boost.Fiber with its round-robin scheduler. Stacks of 16 KB from a pool: with its own default
// (128 KB, each mapped) 100 000 fibers are more mappings than a process may have.
#include <boost/fiber/all.hpp>
#include <mutex>

#include "workloads/coop_speed/monitor.hpp"
#include "workloads/coop_speed/peer.hpp"

namespace heddle::lab::coop_speed {
namespace {

namespace fibers = boost::fibers;

struct boost_fibers {
  using strand = fibers::fiber;
  using semaphore =
      monitor_semaphore<fibers::mutex, fibers::condition_variable, std::unique_lock<fibers::mutex>>;

  class channel {
   public:
    void push(std::int64_t value) { values_.push(value); }
    void close() { values_.close(); }
    bool pop(std::int64_t& value) {
      return values_.pop(value) == fibers::channel_op_status::success;
    }

   private:
    fibers::buffered_channel<std::int64_t> values_{2};  // holds one: its ring has a free place
  };

  template <class Body>
  static void enter(Body body) {
    body();  // the main thread is a fiber
  }
  template <class Body>
  static strand spawn(Body body) {
    static fibers::pooled_fixedsize_stack stacks(16 * 1024);
    return fibers::fiber(fibers::launch::post, std::allocator_arg, stacks, std::move(body));
  }
  static void yield() { boost::this_fiber::yield(); }
};

const model<problem> registered{"boost-fiber", &peer<boost_fibers>::run};

}  // namespace
}  // namespace heddle::lab::coop_speed

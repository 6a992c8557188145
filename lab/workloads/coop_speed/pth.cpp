// GNU Pth.
#include <pth.h>

#include <functional>
#include <memory>

#include "harness/throw_errno.hpp"
#include "workloads/coop_speed/monitor.hpp"
#include "workloads/coop_speed/peer.hpp"

namespace heddle::lab::coop_speed {
namespace {

class mutex {
 public:
  void lock() { pth_mutex_acquire(&mutex_, FALSE, nullptr); }
  void unlock() { pth_mutex_release(&mutex_); }

 private:
  friend class condition;
  pth_mutex_t mutex_ = PTH_MUTEX_INIT;
};

class lock {
 public:
  explicit lock(mutex& held) : held_(held) { held_.lock(); }
  ~lock() { held_.unlock(); }
  lock(const lock&) = delete;
  lock& operator=(const lock&) = delete;

 private:
  friend class condition;
  mutex& held_;
};

class condition {
 public:
  void wait(lock& held) { pth_cond_await(&condition_, &held.held_.mutex_, nullptr); }
  void notify_one() { pth_cond_notify(&condition_, FALSE); }

 private:
  pth_cond_t condition_ = PTH_COND_INIT;
};

struct pth {
  using semaphore = monitor_semaphore<mutex, condition, lock>;
  using channel = monitor_channel<mutex, condition, lock>;

  class strand {
   public:
    explicit strand(std::function<void()> body)
        : body_(std::make_unique<std::function<void()>>(std::move(body))),
          thread_(pth_spawn(PTH_ATTR_DEFAULT, &main, body_.get())) {
      if (thread_ == nullptr) {
        throw_errno("pth_spawn");
      }
    }
    void join() { pth_join(thread_, nullptr); }

   private:
    static void* main(void* body) {
      (*static_cast<std::function<void()>*>(body))();
      return nullptr;
    }

    std::unique_ptr<std::function<void()>> body_;
    pth_t thread_;
  };

  template <class Body>
  static void enter(Body body) {
    pth_init();
    body();
    pth_kill();
  }
  template <class Body>
  static strand spawn(Body body) {
    return strand(std::move(body));
  }
  static void yield() { pth_yield(nullptr); }
};

const model<problem> registered{"pth", &peer<pth>::run};

}  // namespace
}  // namespace heddle::lab::coop_speed

#if defined(HEDDLE_LIBURING)
#include "uring_acceptor.hpp"

#include <unistd.h>

#include <cerrno>

namespace heddle::coop::io::detail {

uring_acceptor::~uring_acceptor() { close_all(); }

void uring_acceptor::close_all() noexcept {
  for (const int each : come_) ::close(each);
  come_.clear();
}

bool uring_acceptor::serve(completions& to) {
  if (socket_ == nullptr) return false;
  ++socket_->references;
  const file_ref held(socket_);  // an abandoned operation may have the last reference
  bool any = false;
  while (!waiting_.empty() && !come_.empty()) {
    const int taken = come_.front();
    come_.pop_front();
    to.complete(waiting_.pop(), taken);
    any = true;
  }
  if (!waiting_.empty() && !requested_) {
    request();
    any |= !requested_;
  }
  return any;
}

void uring_acceptor::complete(completions& to, const io_uring_cqe& what) {
  if ((what.flags & IORING_CQE_F_MORE) == 0) requested_ = pausing_ = false;
  if (what.res >= 0) {
    if (socket_ == nullptr) {
      ::close(what.res);
      return;
    }
    come_.push_back(what.res);
    if (waiting_.empty() && come_.size() >= most_ahead && requested_ && !pausing_) pause();
  } else if (!waiting_.empty() && what.res != -ECANCELED) {
    ++socket_->references;
    const file_ref held(socket_);
    to.complete(waiting_.pop(), what.res);
  }
  serve(to);
}

// Without an entry for it now, it is tried again by the next serve().
void uring_acceptor::request() noexcept {
  io_uring_sqe* const entry = free_entry(ring_);
  if (entry == nullptr) return;
  io_uring_prep_multishot_accept(entry, waiting_.first()->fd, nullptr, nullptr, SOCK_CLOEXEC);
  entry->user_data = user_data();
  requested_ = true;
}

void uring_acceptor::pause() noexcept {
  io_uring_sqe* const entry = free_entry(ring_);
  if (entry == nullptr) return;  // by the next connection
  io_uring_prep_cancel64(entry, user_data(), 0);
  entry->user_data = 0;
  pausing_ = true;
}

void uring_acceptor::abandon() noexcept {
  socket_ = nullptr;
  close_all();
  if (!requested_) return;
  // Waited for: until then the request holds the listener, and its port. What was not handed to the
  // kernel yet would come to a descriptor that is another one by then.
  io_uring_submit(&ring_);
  io_uring_sync_cancel_reg all = {};
  all.addr = user_data();
  all.fd = -1;
  all.timeout = {-1, -1};
  io_uring_register_sync_cancel(&ring_, &all);
  io_uring_get_events(&ring_);  // with IORING_SETUP_DEFER_TASKRUN, it ends by this
}

}  // namespace heddle::coop::io::detail
#endif

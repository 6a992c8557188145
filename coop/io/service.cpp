#include "heddle/coop/io/service.hpp"

#include <fcntl.h>

#include "choose.hpp"
#include "core.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop::io {

service::service(scheduler& on, const service_options& options) {
  const bool elsewhere =
      scheduler_access::group(on) != nullptr && coop::detail::current_scheduler != &on;
  auto [engine, files, sockets, by_epoll] = detail::choose({options, elsewhere});
  core_ = new detail::core(on, std::move(engine), std::move(files), by_epoll, std::move(sockets));
}

service::service(scheduler& on, std::unique_ptr<engine> engine, std::string chosen)
    : core_(new detail::core(on, std::move(engine), chosen, false, chosen)) {}

service::~service() {
  core_->stop();
  core_->release();
}

detail::operation_awaitable<file> service::open(std::string path, int flags, mode_t mode) const {
  core_->acquire();
  detail::file_ref state(new detail::file_state{core_, std::move(path)});
  auto* const wanted = new detail::operation(detail::verb::open, std::move(state));
  wanted->flags = flags | O_CLOEXEC;
  wanted->mode = mode;
  return detail::operation_awaitable<file>(wanted);
}

file service::adopt(int fd, std::string name) const {
  core_->acquire();
  return file(
      detail::file_ref(new detail::file_state{core_, std::move(name), fd, detail::ends_soon(fd)}));
}

coop::reactor& service::reactor() const noexcept { return *core_; }

const std::string& service::choice() const noexcept { return core_->choice(); }

}  // namespace heddle::coop::io

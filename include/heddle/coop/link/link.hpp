#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/coop/await.hpp"
#include "heddle/coop/detail/link_handler.hpp"
#include "heddle/coop/detail/link_side.hpp"
#include "heddle/coop/link/errors.hpp"  // for users: what a call throws

namespace heddle::coop {

/// One of the two ends of a link, as in Lynx (M. L. Scott, "The Lynx distributed programming
/// language", 1991): a channel with types and two directions. Both ends can ask and answer. The
/// receipt of a message creates a strand to handle it.
///
///     auto [client, server] = make_link<int, std::string>("names");
///     g[0].spawn([end = std::move(client)]() mutable {
///       std::string name = await(end.call(7));                   // waits for the reply
///     });
///     g[1].spawn([end = std::move(server)]() mutable {
///       end.on([](int number) { return name_of(number); });      // a fiber for each message
///       await(end.finished());                                   // until the other end is closed
///     });
///
/// An end belongs to the group (or scheduler) whose strand first uses it. An end that has not been
/// used, or was detached, can be moved to another group: captured by what is spawned there, or sent
/// over another link. Messages that come meanwhile wait for it, in their order.
///
/// An end that is destroyed is closed. What waits at the other end is then woken: calls fail with
/// link_closed. Destroy ends before their schedulers, or while nothing runs.
///
/// Requests and replies are moved, never copied. Messages cost no allocation once there have been
/// as many at once.
template <class Request, class Reply = void>
class link_end {
  static_assert(std::is_nothrow_move_constructible_v<Request>,
                "a request whose move may throw could be lost; send a pointer to it");
  static_assert(std::is_void_v<Reply> || std::is_nothrow_move_constructible_v<Reply>,
                "a reply whose move may throw could be lost; send a pointer to it");
  using side = detail::side_of<Request, Reply>;
  using envelope = detail::envelope_of<Request, Reply>;

 public:
  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] call_awaitable
      : public detail::awaitable<call_awaitable> {
   public:
    call_awaitable(side & at, Request && request) noexcept
        : side_(&at), request_(std::move(request)) {}
    call_awaitable(call_awaitable &&) noexcept = default;
    ~call_awaitable() {
      if (envelope_ != nullptr && !was_closed()) side_->give_up_call(*envelope_);
    }

    bool ready() {
      side_->bind();
      pin_.take(*side_);
      if (side_->closed()) return true;
      auto& sent = static_cast<envelope&>(side_->take_envelope(detail::envelope_kind::call));
      sent.request.emplace(std::move(request_));
      if (!side_->send(sent)) {
        side_->keep(sent);
        return true;
      }
      envelope_ = &sent;
      return side_->reply_comes_soon(sent);
    }
    void park(detail::strand_block & self) noexcept {
      parked_ = true;
      side_->park_call(self, wait_, *envelope_);
    }
    Reply get() {
      if (envelope_ == nullptr || was_closed()) side_->throw_closed();
      const detail::kept_envelope<Request, Reply> over{*side_, *std::exchange(envelope_, nullptr)};
      return over.result();
    }

   private:
    // While it was parked; the envelope is not ours then.
    [[nodiscard]] bool was_closed() const noexcept { return parked_ && wait_.envelope == nullptr; }

    side* side_;
    Request request_;
    envelope* envelope_ = nullptr;
    bool parked_ = false;
    detail::link_wait wait_;
    detail::link_pin pin_;
  };

  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] push_awaitable
      : public detail::awaitable<push_awaitable> {
   public:
    push_awaitable(side & at, Request && request, std::size_t most) noexcept
        : side_(&at), request_(std::move(request)) {
      wait_.most = most;
    }
    push_awaitable(push_awaitable &&) noexcept = default;
    ~push_awaitable() {
      if (wait_.letter != nullptr) side_->keep(*wait_.letter);
    }

    bool ready() {
      side_->bind();
      pin_.take(*side_);
      const bool closed = side_->closed();
      if (!closed && !side_->has_room(wait_.most)) return false;
      fill();
      if (!closed && side_->send_one_way(*wait_.letter)) wait_.letter = nullptr;
      return true;
    }
    void park(detail::strand_block & self) {
      fill();
      side_->park_for_room(self, wait_);
    }
    void get() {
      if (wait_.letter != nullptr) {
        side_->return_one_way(*std::exchange(wait_.letter, nullptr));
      }
    }

   private:
    void fill() {
      wait_.letter = &side_->take_envelope(detail::envelope_kind::one_way);
      static_cast<envelope*>(wait_.letter)->request.emplace(std::move(request_));
    }

    side* side_;
    Request request_;
    detail::room_wait wait_;
    detail::link_pin pin_;
  };

  class [[nodiscard("awaited: co_await it, or await(it) in a fiber")]] finished_awaitable
      : public detail::awaitable<finished_awaitable> {
   public:
    explicit finished_awaitable(side & at) noexcept : side_(&at) {}
    bool ready() {
      side_->bind();
      pin_.take(*side_);
      return side_->is_finished();
    }
    void park(detail::strand_block & self) noexcept { side_->park_finished(self, node_); }
    void get() const noexcept {}

   private:
    side* side_;
    detail::wait_node node_;
    detail::link_pin pin_;
  };

  /// None: only to be assigned to.
  link_end() noexcept = default;
  explicit link_end(side& its_side) noexcept : side_(&its_side) {}
  link_end(link_end&& other) noexcept : side_(std::exchange(other.side_, nullptr)) {}
  link_end& operator=(link_end&& other) noexcept {
    link_end(std::move(other)).swap(*this);
    return *this;
  }
  /// Closes like close(), in the group that the end belongs to. Strands that handle messages are
  /// cancelled; they may outlive the end, and so all that they do not own themselves: where that
  /// matters, wait for finished() first.
  ~link_end() {
    if (side_ != nullptr) side_->abandon();
  }
  void swap(link_end& other) noexcept { std::swap(side_, other.side_); }

  /// Sends a request, and results in the reply. Throws link_closed; handler_failed, if the handler
  /// threw; std::logic_error in another group than the end's.
  ///
  /// Suspends until the reply comes, after a short look-out where the other end is in another group
  /// and nothing else is ready; made ready by the handler's end if that is in the same group, else
  /// in its own group, soon after, by a message. Timed out or cancelled while it waits: the handler
  /// goes on, and its reply is dropped; unless that was under way already, which counts. Destroyed
  /// while it waits: the same.
  call_awaitable call(Request request) { return call_awaitable(*side_, std::move(request)); }

  /// Sends a message that is handled as a request is, and whose reply is dropped. Does not wait:
  /// where messages come faster than they are handled, they queue up; push() and call() wait.
  /// Throws link_closed; the message is among returned() then.
  void send(Request request) {
    side_->bind();
    auto& sent = static_cast<envelope&>(side_->take_envelope(detail::envelope_kind::one_way));
    sent.request.emplace(std::move(request));
    if (!side_->send_one_way(sent)) side_->return_one_way(sent);
  }

  /// Like send(), but waits until, with this message, at most `most` of those sent from this end
  /// have not been received, that is, taken up by a strand that handles them: so the sender keeps
  /// to the pace of its receiver, with the bound of on(). First come, first served. Throws
  /// std::invalid_argument if `most` is 0.
  ///
  ///     end.on(store, 4);                                    // there: four strands at most
  ///     while (auto line = next_line()) await(end.push(*line, 16));
  ///
  /// Suspends while there are so many; made ready by a receipt if that is in the same group, else
  /// in its own group, soon after, by a message; and when either end is closed. Timed out,
  /// cancelled or destroyed while it waits: the message is not sent. Those of send() overtake it.
  push_awaitable push(Request request, std::size_t most = 16) {
    if (most == 0) throw std::invalid_argument("with room for 0 messages none is ever sent");
    return push_awaitable(*side_, std::move(request), most);
  }

  /// From now on each message is handled by `handler(Request)` in a strand of its own: as a task if
  /// that returns a task<Reply>, else as a fiber, `most` at once; others wait their turn, first
  /// come, first served. Also what has come already. In place of the handler before, which must not
  /// be running any more.
  ///
  /// A handler's strand stays in its end's group: move_to() throws there.
  ///
  /// An exception that leaves the handler reaches the caller as handler_failed; one from a one-way
  /// message is dropped. Throws std::invalid_argument if `most` is 0; std::logic_error.
  template <class Handler>
  void on(Handler&& handler, std::size_t most = std::numeric_limits<std::size_t>::max()) {
    side_->bind();
    side_->set_handler(std::forward<Handler>(handler), most);
  }

  /// Waits until the link is closed, by either end, and what had come before is handled.
  /// Suspends if that is not so; made ready by the last handler's end, or by the message that tells
  /// of the other end. Cancelled while it waits: it cancels the handlers, and waits on until they
  /// have ended. Destroyed while it waits: it waits no more.
  finished_awaitable finished() { return finished_awaitable(*side_); }

  /// Ends the program with a message in another group than the end's. Nothing more comes or goes:
  /// wakes all that wait, here and at the other end. Messages that have not been taken up go back.
  /// Handlers that run go on; their callers fail with link_closed. A second call does nothing. Does
  /// not switch.
  void close() noexcept { side_->close(); }
  /// Whether either end is. What was sent from here before its close() is still handled at the
  /// other end, if that has a handler, and else destroyed with it.
  [[nodiscard]] bool closed() const noexcept { return side_->closed(); }

  /// Belongs to no group any more, and has no handler: it may be moved to another one. Messages
  /// that come meanwhile wait. Throws std::logic_error while strands wait on it, or handle
  /// messages.
  void detach() { side_->unbind(); }

  /// Messages that have come, and wait to be handled. For strands of its group.
  [[nodiscard]] std::size_t queued() {
    side_->bind();
    return side_->queued();
  }

  /// Number of one-way messages sent from here that will never be handled, as the other end was
  /// closed before it took them up. The number is final once this end knows that the other one is
  /// closed: closed() holds though this end was not closed, or finished() holds. Messages that come
  /// back to a closed end are destroyed.
  [[nodiscard]] std::size_t returned() const noexcept { return side_->returned().size(); }
  /// Takes these, in the order in which they were sent.
  [[nodiscard]] std::vector<Request> take_returned() {
    std::vector<Request> all;
    all.reserve(returned());
    while (!side_->returned().empty()) {
      auto& each = static_cast<envelope&>(side_->returned().pop());
      all.push_back(std::move(*each.request));
      side_->keep(each);
    }
    return all;
  }

 private:
  side* side_ = nullptr;
};

/// The two ends of a new link. `name` is for errors and for the report of a deadlock.
template <class Request, class Reply = void>
[[nodiscard("an end that is dropped is closed")]] std::pair<link_end<Request, Reply>,
                                                            link_end<Request, Reply>>
make_link(std::string name = {}) {
  auto* const core = new detail::core_of<Request, Reply>(std::move(name));
  return {link_end<Request, Reply>(core->first), link_end<Request, Reply>(core->second)};
}

}  // namespace heddle::coop

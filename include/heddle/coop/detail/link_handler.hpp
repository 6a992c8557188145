#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/coop/detail/link_side.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/task.hpp"

namespace heddle::coop::detail {

template <class Request, class Reply>
struct envelope_of final : link_envelope {
  using reply_value = std::conditional_t<std::is_void_v<Reply>, no_value, Reply>;
  std::optional<Request> request;
  std::optional<reply_value> reply;

  explicit envelope_of(link_side& its_home) noexcept
      : link_envelope(its_home, envelope_kind::call) {}
  void clear() noexcept override {
    request.reset();
    reply.reset();
  }
};

/// A call that is over, and at home; kept for others at its end.
template <class Request, class Reply>
struct kept_envelope {
  link_side& side;
  envelope_of<Request, Reply>& over;

  ~kept_envelope() { side.keep(over); }
  Reply result() const {
    if (over.outcome == call_outcome::failed) throw_handler_failed(*over.error);
    if (over.outcome == call_outcome::closed) side.throw_closed();
    if constexpr (!std::is_void_v<Reply>) return std::move(*over.reply);
  }
};

/// One message, and what comes of it, without the handler's type.
template <class Request, class Reply>
struct message_job {
  using envelope = envelope_of<Request, Reply>;

  link_job job;
  void* handler;
  Request request;
  std::optional<typename envelope::reply_value> value = {};
  std::exception_ptr error = {};

  message_job(link_side& side, void* its_handler, envelope& message, bool is_call) noexcept
      : job(side, is_call ? &message : nullptr),
        handler(its_handler),
        request(std::move(*message.request)) {}

  template <class Code>
  void store(Code&& code) {
    if constexpr (std::is_void_v<Reply>) {
      static_cast<void>(code());
      value.emplace();
    } else {
      value.emplace(code());
    }
  }
  void end() noexcept {
    // Not to be replied to any more, if the link was closed meanwhile.
    if (job.call != nullptr && value) {
      static_cast<envelope*>(job.call)->reply.emplace(std::move(*value));
    }
    job.end(error);
  }
};

// Resumes its coroutine at the end of a task, whatever that is, and throws nothing.
template <class T>
struct end_of {
  const task<T>& awaited;
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) const noexcept {
    return awaited.start(self);
  }
  void await_resume() const noexcept {}
};

template <class Request, class Reply, class T>
task<> handle_by_task(message_job<Request, Reply>& job,
                      task<T> (*make)(message_job<Request, Reply>&)) {
  struct frame {
    message_job<Request, Reply>& job;
    task<T> (*make)(message_job<Request, Reply>&);
    std::optional<task<T>> handling;
  } all{job, make, {}};
  job.error = caught(
      [](void* argument) {
        auto& self = *static_cast<frame*>(argument);
        self.handling.emplace(self.make(self.job));
      },
      &all);
  if (all.handling) {
    co_await end_of<T>{*all.handling};
    job.error = caught(
        [](void* argument) {
          auto& self = *static_cast<frame*>(argument);
          self.job.store([&]() -> decltype(auto) { return self.handling->result(); });
        },
        &all);
  }
  job.end();
}

/// The body of the strand that handles a message.
template <class Request, class Reply, class Handler>
struct message_body {
  using job_type = message_job<Request, Reply>;
  using result = std::invoke_result_t<Handler&, Request&&>;
  job_type job;

  auto operator()() {
    if constexpr (is_task<result>) {
      return handle_by_task<Request, Reply, typename task_value<result>::type>(job, &handle);
    } else {
      job.error = caught(
          [](void* argument) {
            auto& self = *static_cast<job_type*>(argument);
            self.store([&]() -> decltype(auto) { return handle(self); });
          },
          &job);
      job.end();
    }
  }

 private:
  static result handle(job_type& job) {
    return (*static_cast<Handler*>(job.handler))(std::move(job.request));
  }
};

/// One end of a link.
template <class Request, class Reply>
class side_of final : public link_side {
  using envelope = envelope_of<Request, Reply>;

 public:
  using link_side::link_side;

  template <class Handler>
  void set_handler(Handler&& handler, std::size_t most) {
    check_handler(most);
    handler_ = std::make_unique<handler_of<std::decay_t<Handler>>>(std::forward<Handler>(handler));
    serve(most);
  }

 private:
  struct handler_base {
    virtual ~handler_base() = default;
    virtual void spawn(side_of& side, envelope& message) = 0;
  };
  template <class Handler>
  struct handler_of final : handler_base {
    Handler handler;
    template <class F>
    explicit handler_of(F&& its_handler) : handler(std::forward<F>(its_handler)) {}
    void spawn(side_of& side, envelope& message) override {
      const bool is_call = message.kind == envelope_kind::call;
      const auto made = side.owner().spawn(
          message_body<Request, Reply, Handler>{{side, &handler, message, is_call}}, side.name());
      side.note_strand(made.block());
      if (!is_call) give_back(message);
    }
  };

  link_envelope& make_envelope() override { return *new envelope(*this); }
  void start(link_envelope& letter) override {
    handler_->spawn(*this, static_cast<envelope&>(letter));
  }
  void drop_handler() noexcept override { handler_.reset(); }

  std::unique_ptr<handler_base> handler_;
};

template <class Request, class Reply>
struct core_of final : link_core {
  side_of<Request, Reply> first;
  side_of<Request, Reply> second;

  explicit core_of(std::string its_name)
      : link_core(std::move(its_name)), first(*this, second), second(*this, first) {}
};

}  // namespace heddle::coop::detail

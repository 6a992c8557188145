#include "workloads/http/session.hpp"

#include <algorithm>
#include <charconv>

#include "heddle/coop/concurrent.hpp"
#include "workloads/http/request.hpp"
#include "workloads/http/response.hpp"

namespace heddle::lab::http {

using boost::beast::http::verb;
using std::chrono::steady_clock;

struct session::incoming {
  request what;
  std::optional<request_parser> parser;  // from a request's first byte to its last
  response how;
};

namespace {

// More than the header of a usual answer.
constexpr std::size_t first_output_bytes = 1024;
constexpr std::size_t most_output_bytes = 64 * 1024;
constexpr std::size_t chunk_bytes = 1000;

std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

}  // namespace

session::session(server_state& server)
    : server_(server),
      // A header as large as is allowed, and a little more, by which it is seen to be too large.
      in_(server.allowed.header_bytes + 256),
      out_(first_output_bytes),
      request_(std::make_unique<incoming>()) {}

session::~session() = default;

session::step session::next() {
  while (!closing_ && key_.empty() && out_.size() < most_output_bytes &&
         answered_ < server_.allowed.pipelined && !in_.empty()) {
    if (!parse()) break;
    coop::await(coop::checkpoint());
  }
  if (!key_.empty()) return step::fetch;
  if (!out_.empty()) return step::write;
  if (closing_) return lingers_ ? step::linger : step::close;
  return ended_ ? step::close : step::read;
}

// Returns whether a request was whole, or refused.
bool session::parse() {
  incoming& now = *request_;
  if (!now.parser) {
    now.what.clear();
    now.parser.emplace(now.what, server_.allowed);
  }
  in_.take(now.parser->take(in_.text()));
  if (now.parser->status() != 0) {
    refuse(now.parser->status());
    return true;
  }
  if (now.parser->is_done()) {
    deadline_.reset();
    answer();
    return true;
  }
  if (now.what.wants_continue && now.parser->is_header_done()) {
    now.what.wants_continue = false;
    out_.append("HTTP/1.1 100 Continue\r\n\r\n");
  }
  const bool in_body = now.parser->is_header_done();
  if (!deadline_ || in_body != in_body_) {
    in_body_ = in_body;
    deadline_ = steady_clock::now() + (in_body ? server_.allowed.body : server_.allowed.header);
  }
  return false;
}

void session::received(std::size_t count) {
  if (count == 0) ended_ = true;
  in_.added(count);
}

session::duration session::patience() const {
  if (!deadline_) return server_.allowed.idle;
  return std::max<duration>(*deadline_ - steady_clock::now(), duration::zero());
}

void session::timed_out() {
  if (deadline_) {
    refuse(408);
  } else {
    closing_ = true;
  }
}

bool session::idle() const { return in_.empty() && out_.empty() && !deadline_ && key_.empty(); }

void session::respond(int status, std::string_view content) {
  request_->how.status = status;
  write_response(out_, request_->how, content);
}

void session::refuse(int status) {
  ++server_.refused;
  ++server_.requests;
  closing_ = lingers_ = true;
  request_->parser.reset();
  request_->how = {.status = status, .closes = true, .http_1_0 = false, .only_header = false};
  in_.clear();
  respond(status, reason_of(status));
}

void session::answer() {
  incoming& now = *request_;
  ++server_.requests;
  ++answered_;
  closing_ = !now.parser->keep_alive() || server_.stopping;
  // The peer may have sent more already: closed at once, the answer would be thrown away with it.
  lingers_ = closing_;
  now.how = {.status = 200,
             .closes = closing_,
             .http_1_0 = now.parser->is_1_0(),
             .only_header = now.what.method == verb::head};
  now.parser.reset();
  answer_resource();
}

void session::answer_resource() {
  const request& what = request_->what;
  const std::string_view target = what.target;
  const auto below = [&](std::string_view root) -> std::optional<std::string_view> {
    if (!target.starts_with(root)) return {};
    return target.substr(root.size());
  };
  if (target == "/echo") {
    const bool allowed = what.method == verb::post || what.method == verb::put;
    respond(allowed ? 200 : 405, allowed ? what.body : reason_of(405));
    return;
  }
  const auto size = below("/bytes/");
  const auto chunked = below("/chunked/");
  const auto key = below("/value/");
  const auto wanted = number_in(size ? *size : chunked.value_or(""));
  const bool fits = wanted && *wanted <= most_content;
  if (target != "/" && !fits && (!key || key->empty())) {
    respond(404, reason_of(404));
  } else if (what.method != verb::get && what.method != verb::head) {
    respond(405, reason_of(405));
  } else if (key) {
    key_ = *key;
  } else if (chunked && !request_->how.http_1_0) {
    write_chunked(out_, request_->how, content(*wanted), chunk_bytes);
  } else {
    respond(200, fits ? content(*wanted) : "Hello.\n");
  }
}

void session::fetched(found how, std::string_view value) {
  key_.clear();
  switch (how) {
    case found::value:
      respond(200, value);
      break;
    case found::nothing:
      respond(404, reason_of(404));
      break;
    case found::no_back_end:
      respond(502, reason_of(502));
      break;
  }
}

std::string_view session::content(std::size_t size) {
  static const std::string all = [] {
    std::string text;
    for (std::size_t i = 0; text.size() < most_content; ++i) text += std::to_string(i) + '\n';
    return text;
  }();
  return std::string_view(all).substr(0, size);
}

}  // namespace heddle::lab::http

#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "workloads/http/limits.hpp"

namespace heddle::lab::http {

/// A request, as its parser has found it.
struct request {
  boost::beast::http::verb method = boost::beast::http::verb::unknown;
  std::string target;
  std::string body;
  bool has_host = false;
  bool wants_continue = false;  // Expect: 100-continue

  /// For the next one; keeps the memory.
  void clear() {
    method = boost::beast::http::verb::unknown;
    target.clear();
    body.clear();
    has_host = wants_continue = false;
  }
};

/// Reads one request, as it comes.
///
/// The parser is Boost.Beast's basic_parser: of what Debian has it is the one that is maintained,
/// knows chunked bodies and limits, and refuses what request smuggling is made of (libhttp-parser
/// is dead upstream, llhttp and picohttpparser are not packaged). Rust's httparse parses headers
/// alone, faster by some hundred instructions a request, but would leave bodies and chunks to code
/// of our own, and lab programs to Cargo.
class request_parser final : public boost::beast::http::basic_parser<true> {
 public:
  request_parser(request& into, const limits& allowed) : into_(into), allowed_(allowed) {
    header_limit(static_cast<std::uint32_t>(allowed.header_bytes));
    body_limit(allowed.body_bytes);
    eager(true);
  }

  /// Takes what it can of `text`; returns how much. Afterwards, one of: is_done(), status() != 0,
  /// or it needs more.
  std::size_t take(std::string_view text);

  /// 0, or the status that says what is wrong.
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] bool is_1_0() const { return version_ == 10; }

 private:
  using verb = boost::beast::http::verb;
  using field = boost::beast::http::field;
  using error_code = boost::beast::error_code;
  using text_view = boost::beast::string_view;

  void on_request_impl(verb method, text_view name, text_view target, int version,
                       error_code& error) override;
  void on_response_impl(int, text_view, int, error_code&) override {}
  void on_field_impl(field name, text_view name_text, text_view value, error_code& error) override;
  void on_header_impl(error_code& error) override;
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(text_view body, error_code&) override;
  void on_chunk_header_impl(std::uint64_t, text_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, text_view body, error_code& error) override {
    return on_body_impl(body, error);
  }
  void on_finish_impl(error_code&) override {}

  void refuse(int status, error_code& error) {
    status_ = status;
    error = boost::beast::http::error::bad_value;  // any one: it ends the parsing
  }

  request& into_;
  const limits& allowed_;
  int version_ = 11;
  int status_ = 0;
};

}  // namespace heddle::lab::http

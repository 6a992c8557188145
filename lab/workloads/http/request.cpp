#include "workloads/http/request.hpp"

#include <algorithm>
#include <cctype>

namespace heddle::lab::http {
namespace {

namespace beast = boost::beast;
using beast::http::error;

// Whether a request line that was refused for its version has one: "HTTP/2.0", and not "HTPP/1.1".
bool names_a_version(std::string_view text) {
  const std::string_view line = text.substr(0, text.find("\r\n"));
  constexpr std::string_view protocol = " HTTP/";
  const std::size_t at = line.rfind(protocol);
  if (at == std::string_view::npos) return false;
  const std::string_view version = line.substr(at + protocol.size());
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  return version.size() == 3 && digit(version[0]) && version[1] == '.' && digit(version[2]);
}

}  // namespace

std::size_t request_parser::take(std::string_view text) {
  error_code failure;
  const std::size_t taken = put(boost::asio::const_buffer(text.data(), text.size()), failure);
  if (!failure || failure == error::need_more || status_ != 0) return taken;
  if (failure == error::header_limit) {
    // The limit was met in the request line, if that has not been seen whole.
    const bool in_line = into_.target.empty() && text.find("\r\n") == std::string_view::npos;
    status_ = in_line ? 414 : 431;
  } else if (failure == error::body_limit) {
    status_ = 413;
  } else if (failure == error::bad_version && names_a_version(text)) {
    status_ = 505;
  } else {
    status_ = 400;
  }
  return taken;
}

void request_parser::on_request_impl(verb method, text_view, text_view target, int version,
                                     error_code& error) {
  version_ = version;
  into_.method = method;
  into_.target.assign(target.data(), target.size());
  if (target.size() > allowed_.target_bytes) {
    refuse(414, error);
  } else if (method == verb::unknown) {
    refuse(501, error);
  }
}

void request_parser::on_field_impl(field name, text_view, text_view value, error_code& error) {
  switch (name) {
    case field::host:
      // RFC 9112, 3.2: more than one is an error as well.
      if (std::exchange(into_.has_host, true)) refuse(400, error);
      break;
    case field::expect:
      into_.wants_continue = beast::iequals(value, "100-continue");
      break;
    case field::transfer_encoding:
      if (!beast::iequals(value, "chunked")) refuse(501, error);
      break;
    default:
      break;
  }
}

void request_parser::on_header_impl(error_code& error) {
  if (version_ == 11 && !into_.has_host) refuse(400, error);
}

std::size_t request_parser::on_body_impl(text_view body, error_code&) {
  into_.body.append(body.data(), body.size());
  return body.size();
}

}  // namespace heddle::lab::http

#pragma once

#include <cstddef>
#include <string_view>

#include "workloads/http/bytes.hpp"

namespace heddle::lab::http {

/// The parts in which answers differ, beside their content.
struct response {
  int status = 200;
  bool closes = false;       // the connection ends with it
  bool http_1_0 = false;     // the client needs to be told that it does not
  bool only_header = false;  // an answer to HEAD
};

/// Appends an answer with this content.
void write_response(bytes& to, const response& how, std::string_view content);
/// The same with its content in chunks of at most `piece` bytes.
void write_chunked(bytes& to, const response& how, std::string_view content, std::size_t piece);

/// "Not Found" for 404.
std::string_view reason_of(int status);

}  // namespace heddle::lab::http

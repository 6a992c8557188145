#include "workloads/http/response.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>
#include <utility>

#include "heddle/coop/concurrent.hpp"

namespace heddle::lab::http {
namespace {

// "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", made anew once a second.
std::string_view date_line() {
  static thread_local time_t second = 0;
  static thread_local std::string line;
  timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  if (now.tv_sec != second) {
    second = now.tv_sec;
    tm parts;
    gmtime_r(&second, &parts);
    char text[64];
    line.assign(text,
                std::strftime(text, sizeof text, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &parts));
  }
  return line;
}

void append_number(bytes& to, std::size_t number, int base = 10) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
  to.append({digits, static_cast<std::size_t>(end - digits)});
}

void write_head(bytes& to, const response& how) {
  if (how.status == 200) {
    to.append("HTTP/1.1 200 OK\r\n");
  } else {
    to.append("HTTP/1.1 ");
    append_number(to, static_cast<std::size_t>(how.status));
    to.append(" ");
    to.append(reason_of(how.status));
    to.append("\r\n");
  }
  to.append(date_line());
  to.append("Content-Type: text/plain\r\n");
  if (how.status == 405) to.append("Allow: GET, HEAD\r\n");
  if (how.closes) {
    to.append("Connection: close\r\n");
  } else if (how.http_1_0) {
    to.append("Connection: keep-alive\r\n");
  }
}

}  // namespace

std::string_view reason_of(int status) {
  static constexpr std::pair<int, std::string_view> reasons[] = {
      {200, "OK"},
      {400, "Bad Request"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {431, "Request Header Fields Too Large"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {505, "HTTP Version Not Supported"},
  };
  for (const auto& [number, reason] : reasons) {
    if (number == status) return reason;
  }
  return "Unknown";
}

void write_response(bytes& to, const response& how, std::string_view content) {
  write_head(to, how);
  to.append("Content-Length: ");
  append_number(to, content.size());
  to.append("\r\n\r\n");
  if (!how.only_header) to.append(content);
}

void write_chunked(bytes& to, const response& how, std::string_view content, std::size_t piece) {
  write_head(to, how);
  to.append("Transfer-Encoding: chunked\r\n\r\n");
  if (how.only_header) return;
  while (!content.empty()) {
    const std::string_view chunk = content.substr(0, piece);
    append_number(to, chunk.size(), 16);
    to.append("\r\n");
    to.append(chunk);
    to.append("\r\n");
    content.remove_prefix(chunk.size());
    coop::await(coop::checkpoint());
  }
  to.append("0\r\n\r\n");
}

}  // namespace heddle::lab::http

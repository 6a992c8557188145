#pragma once

#include <string>
#include <string_view>

#include "heddle/coop/io/endpoint.hpp"

namespace heddle::lab::http {

/// A process that answers GETs as Redis does: the value of KEY is value_of(KEY), and keys that
/// begin with "missing" have none.
class stub_back_end {
 public:
  stub_back_end();
  ~stub_back_end();
  stub_back_end(const stub_back_end&) = delete;
  stub_back_end& operator=(const stub_back_end&) = delete;

  [[nodiscard]] const coop::io::endpoint& address() const { return address_; }
  [[nodiscard]] static std::string value_of(std::string_view key);

 private:
  int process_ = -1;
  coop::io::endpoint address_;
};

}  // namespace heddle::lab::http

#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>

namespace heddle::coop {

/// Encodes and decodes a message to another process. Trivially copyable types go as their bytes:
/// both processes must be built alike. For others, specialise it:
///
///     template <>
///     struct heddle::coop::link_codec<order> {
///       static void encode(const order& value, std::string& out);           // appends
///       static std::optional<order> decode(std::string_view bytes);
///     };
///
/// A message that decode() rejects, by a nullopt or a throw, closes the link. encode() must not
/// throw.
template <class T>
struct link_codec {
  static_assert(std::is_trivially_copyable_v<T>,
                "specialise link_codec for a message that is more than its bytes");
  static_assert(!std::is_pointer_v<T>, "a pointer means nothing in another process");

  static void encode(const T& value, std::string& out) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  static std::optional<T> decode(std::string_view bytes) {
    alignas(T) char memory[sizeof(T)];
    if (bytes.size() != sizeof memory) return std::nullopt;
    std::memcpy(memory, bytes.data(), sizeof memory);
    return *reinterpret_cast<T*>(memory);
  }
};
template <>
struct link_codec<std::string> {
  static void encode(const std::string& value, std::string& out) { out += value; }
  static std::optional<std::string> decode(std::string_view bytes) { return std::string(bytes); }
};

namespace detail {

/// Tells types apart: FNV-1a of the name that the compiler gives them.
template <class... Ts>
std::uint64_t types_number() {
  std::uint64_t number = 14695981039346656037u;
  const auto add = [&](const char* name) {
    for (; *name != '\0'; ++name)
      number = (number ^ static_cast<unsigned char>(*name)) * 1099511628211u;
  };
  (add(typeid(Ts).name()), ...);
  return number;
}

}  // namespace detail
}  // namespace heddle::coop

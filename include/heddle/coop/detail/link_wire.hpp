#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "heddle/coop/detail/link_side.hpp"
#include "heddle/coop/io/socket.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/task.hpp"

namespace heddle::coop::detail {

enum class frame_kind : std::uint32_t { hello, call, one_way, reply, failed, closed, received };

/// The far end of a link to another process, as seen by the near one: messages that come to it are
/// frames that go out, and the other way round. In the near process each number names one call.
///
/// Incoming bytes are not trusted: a malformed frame closes the link.
class link_wire : public link_side {
 public:
  using link_side::link_side;

  /// In a strand: takes the connection, and spawns the two strands that read and write.
  void open(io::socket connection, std::uint64_t types);

 protected:
  ~link_wire() = default;

  virtual void encode_request(const link_envelope& from, std::string& out) = 0;
  virtual void encode_reply(const link_envelope& from, std::string& out) = 0;
  [[nodiscard]] virtual bool decode_request(std::string_view bytes, link_envelope& to) = 0;
  [[nodiscard]] virtual bool decode_reply(std::string_view bytes, link_envelope& to) = 0;

 private:
  struct header {
    std::uint32_t bytes;  // of what follows it
    frame_kind kind;
    std::uint64_t number;  // of the call; of a hello: its types; `received`: how many one-way ones
  };
  static constexpr std::size_t most_bytes = 64 * 1024 * 1024;

  void start(link_envelope&) override {}
  void drop_handler() noexcept override {}
  void arrive(link_envelope& letter) noexcept override;
  void arrive_over(link_envelope& call) noexcept override;
  void arrive_returned(link_envelope& letter) noexcept override { keep(letter); }
  void note_receipts(std::size_t count) noexcept override;
  void peer_has_closed() noexcept override;

  template <class Encode>
  std::size_t put(frame_kind kind, std::uint64_t number, const Encode& encode);
  void put_error(std::uint64_t number, const handler_error& error);
  [[nodiscard]] static handler_error too_long(const char* what, std::size_t bytes);
  void take(std::string_view bytes);
  [[nodiscard]] std::string take_guarded(const header& head, std::string_view payload);
  [[nodiscard]] const char* take_frame(const header& head, std::string_view payload);
  void fail(std::string_view reason) noexcept;
  void one_has_ended() noexcept;
  static task<> read(link_wire& self);
  static task<> write(link_wire& self);

  io::socket connection_;
  std::uint64_t types_ = 0;
  bool greeted_ = false;
  bool ending_ = false;
  int strands_ = 2;
  std::uint64_t last_number_ = 0;
  std::unordered_map<std::uint64_t, link_envelope*> under_way_;  // calls to the other process
  envelope_list not_received_;                                   // one-way messages there
  std::uint64_t receipts_ = 0;  // of such here, which the other process is to be told of
  std::string in_;
  std::string out_;
  coop::semaphore pending_{0, "frames to write"};
};

}  // namespace heddle::coop::detail

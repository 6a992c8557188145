#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace heddle::coop {

class strand_context;

namespace detail {

struct context_node;
struct strand_block;

/// What a strand has that few strands have: the context it runs in, and its values of
/// `strand_local`s. Made at its first use; it goes when the strand ends.
struct strand_attachments {
  /// A value of a strand_local; those are told by number, for another one may get the same address.
  struct local {
    std::uint64_t number;
    void* value;
    void (*destroy)(void* value) noexcept;
  };

  strand_block& who;
  std::shared_ptr<context_node> context;  // null: in none
  // In the list of those that run in the context.
  strand_attachments* next = nullptr;
  strand_attachments* previous = nullptr;
  std::vector<local> locals;

  explicit strand_attachments(strand_block& its_strand) noexcept : who(its_strand) {}
};

/// At the end of a strand that has any: it leaves its context, and its values are destroyed.
void drop_attachments(strand_block& strand) noexcept;

/// A new strand runs in the context of the strand that spawned it, if that is in one.
void inherit_context(strand_block& spawned);
/// The strand runs in this context from now on. If that is over already, the strand is cancelled.
void enter_context(strand_block& strand, const strand_context& context);

/// A number for a strand_local.
[[nodiscard]] std::uint64_t next_local_number() noexcept;
/// The running strand's value; null if it has none yet. Ends the program with a message outside of
/// strands.
[[nodiscard]] void* find_local(std::uint64_t number) noexcept;
void add_local(strand_attachments::local added);

}  // namespace detail
}  // namespace heddle::coop

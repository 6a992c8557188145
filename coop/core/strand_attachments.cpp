#include "heddle/coop/detail/strand_attachments.hpp"

#include <atomic>
#include <utility>

#include "core/context_node.hpp"
#include "heddle/coop/detail/frame_pool.hpp"
#include "heddle/coop/ext/awaitable.hpp"
#include "heddle/coop/scheduler.hpp"

namespace heddle::coop::detail {

namespace {

/// The strand whose code runs: also one that its scheduler is destroying, whose destructors do.
strand_block& user_of_locals() noexcept {
  if (current_strand != nullptr) return *current_strand;
  if (being_destroyed == nullptr) {
    fatal("a strand_local is used outside of a strand: each strand has its own value of it");
  }
  return *being_destroyed;
}

}  // namespace

strand_attachments& attachments_of(strand_block& strand) {
  strand_extra& rare = strand.extra();
  if (rare.attached == nullptr) {
    rare.attached =
        new (frame_pool::allocate(sizeof(strand_attachments))) strand_attachments(strand);
  }
  return *rare.attached;
}

void drop_attachments(strand_block& strand) noexcept {
  strand_attachments* const all = strand.rare->attached;
  leave_context(*all);
  // A destructor may use other values, or make new ones, if its scheduler destroys the strand.
  while (!all->locals.empty()) {
    const strand_attachments::local last = all->locals.back();
    all->locals.pop_back();
    last.destroy(last.value);
  }
  strand.rare->attached = nullptr;
  all->~strand_attachments();
  frame_pool::release(all, sizeof(strand_attachments));
}

std::uint64_t next_local_number() noexcept {
  static std::atomic<std::uint64_t> given{0};
  return given.fetch_add(1, std::memory_order_relaxed) + 1;
}

void* find_local(std::uint64_t number) noexcept {
  const strand_block& strand = user_of_locals();
  if (strand.rare == nullptr || strand.rare->attached == nullptr) return nullptr;
  for (const strand_attachments::local& each : strand.rare->attached->locals) {
    if (each.number == number) return each.value;
  }
  return nullptr;
}

void add_local(strand_attachments::local added) {
  attachments_of(user_of_locals()).locals.push_back(added);
}

}  // namespace heddle::coop::detail

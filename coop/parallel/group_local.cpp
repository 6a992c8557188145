#include "heddle/coop/parallel/group_local.hpp"

#include <mutex>

#include "heddle/coop/context/context.hpp"
#include "heddle/coop/parallel/group.hpp"

namespace heddle::coop::parallel::detail {
namespace {

std::string text_of(std::uint64_t id, std::string_view name) {
  std::string text = "strand " + std::to_string(id);
  if (!name.empty()) text.append(" \"").append(name) += '"';
  return text;
}

}  // namespace

void group_owner::touch() {
  group* const here = group::current();
  const coop::detail::strand_block* const strand = coop::detail::current_strand;
  if (here == nullptr || strand == nullptr) return;
  group* owner = nullptr;
  const bool ours = owner_.compare_exchange_strong(owner, here) || owner == here;
  const std::uint64_t id = scheduler_access::id(*strand);
  const std::lock_guard held(lock_);
  if (!ours) {
    const std::string what = name_.empty() ? "a group_local" : "group_local \"" + name_ + '"';
    const std::string message = what + " belongs to group " + std::to_string(owner->index()) +
                                ", whose " + text_of(last_id_, last_name_) +
                                " touched it last, and " + text_of(id, strand->name()) +
                                " of group " + std::to_string(here->index()) +
                                " touches it: what groups share is in heddle/coop/parallel/";
    coop::detail::fatal(message.c_str());
  }
  if (id == last_id_) return;
  last_id_ = id;
  last_name_ = strand->name();
}

}  // namespace heddle::coop::parallel::detail

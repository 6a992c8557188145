#include "heddle/coop/strand_context.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "core/context_node.hpp"
#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop {

namespace detail {

namespace {

void cancel_in_context(strand_block& strand) {
  strand_extra& its = strand.extra();
  its.told_by_context = true;
  if (!its.told_by_scope) scheduler_access::cancel(strand);
}

}  // namespace

context_node::context_node(std::shared_ptr<context_node> made_of) : parent(std::move(made_of)) {
  if (parent == nullptr) return;
  next = parent->first_child;
  if (next != nullptr) next->previous = this;
  parent->first_child = this;
}

context_node::~context_node() {
  if (timer_ != nullptr && timer_->rare != nullptr) timer_->drop_extra();
  if (parent == nullptr) return;
  (previous != nullptr ? previous->next : parent->first_child) = next;
  if (next != nullptr) next->previous = previous;
}

int context_node::error_of_all() const noexcept {
  for (const context_node* each = this; each != nullptr; each = each->parent.get()) {
    if (each->error != 0) return each->error;
  }
  return 0;
}

void context_node::end(int why) {
  if (error != 0) return;
  const std::shared_ptr<context_node> kept = shared_from_this();
  error = why;
  drop_timer();
  for (strand_attachments* each = first; each != nullptr; each = each->next) {
    if (each->who.status != strand_status::unstarted) cancel_in_context(each->who);
  }
  while (cancel_unstarted()) {
  }
  while (end_child(why)) {
  }
}

// One that never ran ends at once, which destroys what it has captured: that may do anything with
// contexts. So whoever calls this looks for the next one anew.
bool context_node::cancel_unstarted() {
  for (strand_attachments* each = first; each != nullptr; each = each->next) {
    if (each->who.status != strand_status::unstarted) continue;
    cancel_in_context(each->who);
    return true;
  }
  return false;
}

bool context_node::end_child(int why) {
  for (context_node* each = first_child; each != nullptr; each = each->next) {
    if (each->error != 0) continue;
    each->end(why);
    return true;
  }
  return false;
}

void context_node::add(strand_attachments& strand) {
  for (context_node* each = this; each != nullptr; each = each->parent.get()) {
    scheduler* const its = strand.who.owner;
    if (each->alive != 0 && each->owner != its) {
      fatal((named(strand.who) +
             " enters a strand_context in which strands of another scheduler run: make one for "
             "each")
                .c_str());
    }
    each->owner = its;
    if (each->alive++ == 0) each->start_timer();
  }
  strand.context = shared_from_this();
  strand.previous = nullptr;
  strand.next = first;
  if (first != nullptr) first->previous = &strand;
  first = &strand;
}

void context_node::remove(strand_attachments& strand) noexcept {
  (strand.previous != nullptr ? strand.previous->next : first) = strand.next;
  if (strand.next != nullptr) strand.next->previous = strand.previous;
  for (context_node* each = this; each != nullptr; each = each->parent.get()) {
    if (--each->alive == 0) each->drop_timer();
  }
}

void context_node::start_timer() {
  if (deadline == time_point::max() || error != 0) return;
  if (timer_ == nullptr) timer_ = std::make_unique<timer_entry>(*this);
  timer_->owner = owner;
  scheduler_access::wake_at(*timer_, deadline);
}

void context_node::drop_timer() noexcept {
  if (timer_ != nullptr) scheduler_access::drop_timer(*timer_);
}

void context_node::time_is_over(frame_header* timer) {
  static_cast<timer_entry&>(static_cast<strand_block&>(*timer)).context.end(ETIMEDOUT);
}

void leave_context(strand_attachments& strand) noexcept {
  const std::shared_ptr<context_node> left = std::move(strand.context);
  if (left != nullptr) left->remove(strand);
}

void enter_context(strand_block& strand, const strand_context& context) {
  strand_attachments& mine = attachments_of(strand);
  leave_context(mine);
  if (context.node_ == nullptr) return;
  context.node_->add(mine);
  scheduler_access::has_contexts(*strand.owner);
  if (context.node_->error_of_all() != 0) {
    cancel_in_context(strand);
  } else if (context.deadline().value_or(time_point::max()) <= strand.owner->now()) {
    context.node_->end(ETIMEDOUT);
  }
}

// If it is over, the strand is one that cleans up, which is not cancelled again: nor are those that
// it spawns to do so.
void inherit_context(strand_block& spawned) {
  const strand_block* const by = current_strand;
  if (by == nullptr || by->owner != spawned.owner || by->rare == nullptr ||
      by->rare->attached == nullptr || by->rare->attached->context == nullptr) {
    return;
  }
  by->rare->attached->context->add(attachments_of(spawned));
}

}  // namespace detail

strand_context strand_context::current() noexcept {
  const detail::strand_block* const self = detail::current_strand;
  if (self == nullptr || self->rare == nullptr || self->rare->attached == nullptr) return {};
  return strand_context(self->rare->attached->context);
}

strand_context strand_context::with_value(const void* key,
                                          std::shared_ptr<const void> value) const {
  auto made = std::make_shared<detail::context_node>(node_);
  made->key = key;
  made->value = std::move(value);
  return strand_context(std::move(made));
}

strand_context strand_context::with_timeout(detail::length limit) const {
  const detail::strand_block* const self = detail::current_strand;
  const time_point now = self != nullptr ? self->owner->now() : std::chrono::steady_clock::now();
  return with_deadline(detail::later(now, limit));
}

strand_context strand_context::with_deadline(time_point deadline) const {
  auto made = std::make_shared<detail::context_node>(node_);
  made->deadline = deadline;
  return strand_context(std::move(made));
}

strand_context strand_context::with_cancellation() const {
  return strand_context(std::make_shared<detail::context_node>(node_));
}

const void* strand_context::find_value(const void* key) const noexcept {
  for (const auto* each = node_.get(); each != nullptr; each = each->parent.get()) {
    if (each->key == key) return each->value.get();
  }
  return nullptr;
}

std::optional<time_point> strand_context::deadline() const noexcept {
  time_point earliest = time_point::max();
  for (const auto* each = node_.get(); each != nullptr; each = each->parent.get()) {
    earliest = std::min(earliest, each->deadline);
  }
  if (earliest == time_point::max()) return std::nullopt;
  return earliest;
}

void strand_context::cancel() const {
  if (node_ != nullptr && node_->error_of_all() == 0) node_->end(ECANCELED);
}

std::error_code strand_context::error() const noexcept {
  const int why = node_ != nullptr ? node_->error_of_all() : 0;
  return why != 0 ? std::error_code(why, std::generic_category()) : std::error_code();
}

}  // namespace heddle::coop

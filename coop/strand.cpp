#include "heddle/coop/strand.hpp"

#include "heddle/coop/scheduler.hpp"

namespace heddle::coop::detail {

void run_guarded(strand_block& strand, void (*code)(strand_block&)) {
  try {
    code(strand);
  } catch (const forced_unwind&) {
    throw;
  } catch (const cancelled&) {
    strand.cancelled = true;
  } catch (...) {
    strand.error = std::current_exception();
  }
}

void rethrow_error(strand_block& strand) {
  if (strand.error) std::rethrow_exception(strand.error);
  if (strand.cancelled) {
    throw strand_cancelled("strand " + std::to_string(strand.id) +
                           (strand.name.empty() ? "" : " \"" + strand.name + '"') +
                           " was cancelled, so it has no result");
  }
}

void cancel(strand_block& strand) {
  if (strand.status != strand_status::finished) strand.owner->cancel(strand);
}

void throw_cancelled(strand_block& strand) {
  strand.reason = wake_reason::granted;
  strand.cancel_pending = false;
  throw cancelled{};
}

void end_special_wait(strand_block& strand) {
  strand.shielded = false;
  if (strand.reason == wake_reason::cancelled) throw_cancelled(strand);
}

void wait_by_wrong_kind(const strand_block* self, strand_kind wanted) noexcept {
  if (self == nullptr) {
    fatal(
        "waiting outside of a strand: only what scheduler::spawn() started can wait, while run() "
        "runs it");
  }
  if (wanted == strand_kind::fiber) {
    fatal("await() in a task, which has no stack to suspend: use co_await there");
  }
  fatal("co_await of a scheduler's awaitable on a fiber's stack: use await() in a fiber");
}

}  // namespace heddle::coop::detail

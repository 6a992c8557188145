#include "filter_frames.hpp"

namespace heddle::trace {

namespace {

constexpr std::uint64_t kAskByEntryWay = enters_of_one_way(Answer::kAsk);

}  // namespace

bool Frames::push(std::uint64_t seen, const FollowedCall& enter, Frame::Role role,
                  const Answers& answers) {
  const std::uint32_t number = count(seen);
  if (number >= most) return true;
  Frame& frame = at[number];
  frame = frame_of(enter, role, answers);
  // Where the hooks may not read the return address, the answers make them ask. That on an
  // alternate signal stack is read by nobody else.
  const bool elsewhere =
      reinterpret_cast<std::uint64_t>(enter.return_address) != enter.stack_pointer;
  const bool read = elsewhere || answers.enter >> 32 != kAskByEntryWay;
  frame.witness = is_entry_way(enter) && read ? enter.return_address : &frame.call_site;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return change(seen, number + 1);
}

template <typename Ended>
bool Frames::end(Ended ended) {
  while (true) {
    const std::uint64_t seen = look();
    std::uint32_t left = count(seen);
    while (left > 0 && ended(at[left - 1])) --left;
    if (left == count(seen)) return false;
    if (change(seen, left)) return true;
  }
}

bool Frames::settle(const Call& enter, std::uint64_t readable) {
  return end([&](const Frame& frame) {
    return gone_before(frame, enter) || overwritten(frame, readable);
  });
}

bool Frames::leave(std::uint64_t lowest, std::uint64_t stack_pointer) {
  return end([=](const Frame& frame) {
    return lowest <= frame.stack_pointer && frame.stack_pointer < stack_pointer;
  });
}

void Frames::clear() {
  end([](const Frame&) { return true; });
}

void Frames::enter_outermost(const FollowedCall& enter) {
  while (true) {
    const std::uint64_t seen = look();
    if (count(seen) > 0) {
      count_inner(at[0], enter);
      return;
    }
    if (push(seen, enter, Frame::Role::kLevel, all_answers(Answer::kAsk))) return;
  }
}

Relation Frames::exit_outermost(const Call& exit, bool tail) {
  const std::uint64_t seen = look();
  if (count(seen) == 0) return Relation::kOuter;
  const Relation found = relation(at[0], exit, tail);
  if (found != Relation::kInner) (void)change(seen, 0);
  return found;
}

}  // namespace heddle::trace

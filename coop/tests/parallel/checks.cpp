// That broken rules are told.
#include "child_outcome.hpp"
#include "heddle/coop/parallel/group_local.hpp"

namespace {

void ends_with(const char* flaw, const std::string& words) {
  const child_outcome result(HEDDLE_FLAWS_PROGRAM, flaw);
  CAPTURE(result.output);
  CHECK(result.says(words));
  CHECK(WIFSIGNALED(result.status));
  CHECK(WTERMSIG(result.status) == SIGABRT);
}

}  // namespace

// This file is compiled without checks, the program with them.
static_assert(sizeof(heddle::coop::parallel::group_local<int>) == sizeof(int));

TEST_CASE("a group_local that a strand of another group touches ends the program with both names") {
  ends_with(
      "group-local",
      "group_local \"eaten\" belongs to group 1, whose strand 1 \"owner\" touched it last, and "
      "strand 1 \"thief\" of group 0 touches it");
  CHECK(child_outcome(HEDDLE_FLAWS_PROGRAM, "none").status == 0);
}

TEST_CASE("groups that are run from within are told so") {
  ends_with("run-in-strand", "groups::run() is called from a strand");
  ends_with("run-of-one", "use groups::run()");
}

TEST_CASE("a strand that does with another group's what only that may is told so") {
  ends_with("join",
            "a strand of group 0 joins strand \"other\" of group 1, which only strands of that "
            "group can; spawn one there that does");
  ends_with("cancel", "a strand of group 0 cancels strand \"other\" of group 1");
  ends_with("stopper",
            "a strand of group 0 asks for the stop handle of strand \"other\" of group 1");
  ends_with(
      "scheduler",
      "a strand of group 0 asks for the scheduler of group 1, which only that group's strands "
      "may use; use group::spawn()");
  ends_with("link",
            "an end of link \"orders\" is closed or destroyed in another group than that of the "
            "strands that used it; detach() it there first");
}

TEST_CASE("a strand at a barrier in which its group takes no part is told so") {
  ends_with("barrier", "in which its group takes no part");
}

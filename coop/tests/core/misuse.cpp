// That broken rules are told, with the names of those who broke them.
#include "child_outcome.hpp"

namespace {

void ends_with(const char* misuse, const std::string& words) {
  const child_outcome result(HEDDLE_MISUSE_PROGRAM, misuse);
  CAPTURE(misuse);
  CAPTURE(result.output);
  CHECK(result.says("error: heddle: " + words));
  CHECK(WIFSIGNALED(result.status));
  CHECK(WTERMSIG(result.status) == SIGABRT);
}

}  // namespace

TEST_CASE("a lock that is unlocked twice, or by a stranger, ends the program with both names") {
  const std::string twice = ", which is not locked: is it unlocked twice?";
  const std::string only = ": only the strand that has locked it may unlock it";
  ends_with("unlock-twice", "strand 1 \"once\" unlocks mutex \"account\"" + twice);
  ends_with(
      "unlock-by-stranger",
      "strand 2 \"thief\" unlocks mutex \"account\", which strand 1 \"owner\" has locked" + only);
  ends_with("unlock-writer-twice",
            "strand 1 \"once\" unlocks reader-writer lock \"account\"" + twice);
  ends_with("unlock-writer-by-stranger",
            "strand 2 \"thief\" unlocks reader-writer lock \"account\", which strand 1 \"owner\" "
            "has locked" +
                only);
  ends_with("unlock-parallel-twice",
            "strand 1 \"once\" unlocks parallel::mutex \"account\"" + twice);
  ends_with("unlock-parallel-by-stranger",
            "strand 2 \"thief\" unlocks parallel::mutex \"account\", which strand 1 \"owner\" has "
            "locked" +
                only);
  ends_with("unlock-for-one-that-ended",
            "strand 2 unlocks mutex (unnamed), which strand 1, which has ended, has locked" + only);
  ends_with("unlock-in-another-group",
            "strand 1 \"thief\" of group 1 unlocks parallel::mutex \"account\", which strand 1 of "
            "group 0 has locked" +
                only);
  ends_with("unlock-readers",
            "strand 1 unlocks the readers' side of reader-writer lock \"index\"" + twice);
  ends_with("unlock-locked-outside",
            "strand 1 unlocks mutex \"account\", which was locked outside of strands: only what "
            "has locked it may unlock it");
}

TEST_CASE("a lock that is destroyed while it is held ends the program with its holder's name") {
  const std::string late = ": a lock has to live until it is unlocked";
  ends_with(
      "destroy-locked",
      "strand 2 \"careless\" destroys mutex \"account\", which strand 1 \"owner\" holds" + late);
  ends_with("destroy-written",
            "strand 2 \"careless\" destroys reader-writer lock \"account\", which strand 1 "
            "\"owner\" holds" +
                late);
  ends_with("destroy-own-lock", "strand 1 destroys mutex \"account\", which it holds" + late);
  ends_with("destroy-read",
            "strand 1 destroys reader-writer lock \"index\", which strands read" + late);
}

TEST_CASE("a scope that is left before its strands have ended ends the program with their names") {
  ends_with("leave-scope",
            "scope \"pages\" is destroyed before 2 strands in it have ended, among them strand 2 "
            "\"first\": use in_scope(), which waits for them");
}

TEST_CASE("a wait by the other kind of strand's word ends the program with the strand's name") {
  ends_with("await-in-task",
            "strand 1 \"stackless\" is a task and waits by await(), but has no stack to suspend: "
            "use co_await there");
  ends_with("co-await-in-fiber",
            "strand 1 \"stackful\" waits by co_await on a fiber's stack: use await(x) there, and "
            "await(task) for a coroutine");
}

TEST_CASE("a lock that its holder waits for ends the program with the holder's name") {
  const std::string itself =
      ", which it has locked itself, and would wait for forever: it is not recursive";
  ends_with("lock-again", "strand 1 \"owner\" locks mutex \"account\"" + itself);
  ends_with("lock-writer-again",
            "strand 1 \"owner\" locks reader-writer lock \"account\"" + itself);
  ends_with("lock-parallel-again", "strand 1 \"owner\" locks parallel::mutex \"account\"" + itself);
  ends_with("lock-to-read-what-is-written", "strand 1 locks reader-writer lock \"index\"" + itself);
}

TEST_CASE("a task that is awaited or spawned again ends the program with the strand's name") {
  const std::string again = " awaits or spawns a task a second time: a task runs once";
  ends_with("await-twice", "strand 1 \"again\"" + again);
  ends_with("await-while-awaited", "strand 2 \"second\"" + again);
  const std::string moved = " awaits or spawns a task that was moved from";
  ends_with("await-twice-in-fiber", "strand 1" + moved);
  ends_with("spawn-twice", "code outside of strands" + moved);
}

TEST_CASE("a wait of a strand that is destroyed with its scheduler is told with the true cause") {
  const std::string cause =
      " waits while it is destroyed with its scheduler: a destructor does, which must not wait "
      "then; or a catch (...) has taken the exception that unwinds the strand, and must rethrow it";
  ends_with("swallow", "strand 1 \"swallows\"" + cause);
  ends_with("wait-in-destructor", "strand 1 \"tidies\"" + cause);
  const child_outcome returns(HEDDLE_MISUSE_PROGRAM, "swallow-and-return");
  CHECK(returns.status == 0);
  CHECK(returns.says("3 returned\n"));
}

TEST_CASE("a wait in an offloaded function is told with the true cause") {
  ends_with("wait-in-offload",
            "a function given to offload() by strand 2 waits, but it runs on a thread of a pool, "
            "in no strand: let it return, and the strand waits then");
}

TEST_CASE("a task that another library's awaitable has suspended is named as the cause") {
  ends_with("foreign-awaitable",
            "deadlock: nothing can run any more, but 1 strand has not ended\n"
            "  strand 1 \"foreign\" was suspended by an awaitable of another library, which this "
            "one cannot resume");
}

TEST_CASE("a thread that uses another one's scheduler ends the program with the names of both") {
  const auto by_worker = [](const char* misuse, const std::string& does) {
    const child_outcome result(HEDDLE_MISUSE_PROGRAM, misuse);
    CAPTURE(misuse);
    CAPTURE(result.output);
    CHECK(result.says("error: heddle: thread "));
    CHECK(result.says(" \"worker\" " + does));
    CHECK(
        result.says(": other threads may use scheduler::post(), a stop_handle and the types of "
                    "parallel/ alone"));
    CHECK(WIFSIGNALED(result.status));
  };
  by_worker("spawn-from-thread", "spawns a strand in a scheduler, which belongs to thread ");
  by_worker("cancel-from-thread", "cancels a strand of a scheduler, which belongs to thread ");
  by_worker("stopper-from-thread",
            "asks for the stop handle of a strand of a scheduler, which belongs to thread ");
  by_worker("wake-from-thread", "wakes a strand of a scheduler, which belongs to thread ");
  by_worker("run-from-thread", "runs a scheduler, which belongs to thread ");
  by_worker("spawn-in-group-from-thread",
            "spawns a strand in a scheduler, that of group 0, which belongs to thread ");
}

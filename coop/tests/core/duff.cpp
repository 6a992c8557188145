#include "heddle/coop/duff.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "duff_in_c.h"

namespace {

struct counter {
  heddle_duff at = HEDDLE_DUFF_INIT;
  int i = 0;

  int resume(int count) {
    HEDDLE_DUFF_BEGIN(&at);
    for (i = 0; i < count; ++i) HEDDLE_DUFF_YIELD(&at);
    HEDDLE_DUFF_END(&at);
  }
};

// Awaits two others, then waits for a flag.
struct outer {
  heddle_duff at = HEDDLE_DUFF_INIT;
  counter inner;
  bool open = false;

  int resume() {
    HEDDLE_DUFF_BEGIN(&at);
    HEDDLE_DUFF_AWAIT(&at, inner.resume(2));
    inner = counter();
    HEDDLE_DUFF_AWAIT(&at, inner.resume(3));
    if (open) HEDDLE_DUFF_RETURN(&at);
    HEDDLE_DUFF_WAIT_UNTIL(&at, open);
    HEDDLE_DUFF_END(&at);
  }
};

// Means to count its resumptions.
int forgetful(heddle_duff* at, std::vector<int>& seen) {
  int resumptions = 0;
  HEDDLE_DUFF_BEGIN(at);
  for (;;) {
    ++resumptions;
    seen.push_back(resumptions);
    HEDDLE_DUFF_YIELD(at);
  }
  HEDDLE_DUFF_END(at);
}

int yields_in_switch(heddle_duff* at, int value) {
  HEDDLE_DUFF_BEGIN(at);
  switch (value) {
    case 1:
      HEDDLE_DUFF_YIELD(at);
      break;
    default:
      break;
  }
  HEDDLE_DUFF_END(at);
}

template <class Coroutine, class... Arguments>
int suspensions(Coroutine& coroutine, Arguments... arguments) {
  int count = 0;
  while (coroutine.resume(arguments...) == HEDDLE_DUFF_SUSPENDED) ++count;
  return count;
}

}  // namespace

TEST_CASE("a switch coroutine goes on where it suspended, and stays ended") {
  counter three;
  CHECK(suspensions(three, 3) == 3);
  CHECK(three.i == 3);
  CHECK(three.resume(3) == HEDDLE_DUFF_ENDED);
  CHECK(three.i == 3);
  counter none;
  CHECK(suspensions(none, 0) == 0);
}

TEST_CASE("switch coroutines are independent, and a copy goes on from the same place") {
  counter a;
  counter b;
  CHECK(a.resume(5) == HEDDLE_DUFF_SUSPENDED);
  CHECK(a.resume(5) == HEDDLE_DUFF_SUSPENDED);
  CHECK(b.resume(5) == HEDDLE_DUFF_SUSPENDED);
  counter copy = a;
  CHECK(suspensions(copy, 5) == 3);
  CHECK(suspensions(a, 5) == 3);
  CHECK(suspensions(b, 5) == 4);
}

TEST_CASE("a switch coroutine awaits others, and conditions") {
  outer all;
  int resumptions = 0;
  for (; resumptions < 10; ++resumptions) CHECK(all.resume() == HEDDLE_DUFF_SUSPENDED);
  all.open = true;
  CHECK(all.resume() == HEDDLE_DUFF_ENDED);
  outer quick;
  quick.open = true;
  CHECK(suspensions(quick) == 5);
}

TEST_CASE("a switch coroutine in C yields every word") {
  struct duff_c_words words = {HEDDLE_DUFF_INIT, "over the  lazy dog", 0};
  std::vector<std::string> seen;
  while (duff_c_next_word(&words) == HEDDLE_DUFF_SUSPENDED) {
    seen.emplace_back(words.text, static_cast<std::size_t>(words.length));
  }
  CHECK(seen == std::vector<std::string>{"over", "the", "lazy", "dog"});
}

TEST_CASE("limit: a switch coroutine's local variables begin anew at each resumption") {
  heddle_duff at = HEDDLE_DUFF_INIT;
  std::vector<int> seen;
  for (int i = 0; i < 3; ++i) forgetful(&at, seen);
  CHECK(seen == std::vector{1, 1, 1});
}

TEST_CASE("limit: a suspension inside another switch is found at the next resumption") {
  int out[2];
  REQUIRE(pipe(out) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(out[1], STDERR_FILENO);
    heddle_duff at = HEDDLE_DUFF_INIT;
    yields_in_switch(&at, 1);
    yields_in_switch(&at, 1);
    _exit(0);
  }
  close(out[1]);
  std::string said;
  char byte = 0;
  while (read(out[0], &byte, 1) == 1) said += byte;
  close(out[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  CHECK(said.find("yields_in_switch() was suspended on line") != std::string::npos);
}

// A weaver and two spinners: three named threads that each call functions of their own.
//
//   heddle record -- build/examples/threads && heddle report --by thread
//
// Look at: each thread has its own column and its own depth, the names are the ones that the
// program gave, and `weave` waits while the spinners spin.
#include <pthread.h>
#include <unistd.h>

#include <thread>

namespace {

void twist() { usleep(1'000); }

void spin(int threads) {
  for (int i = 0; i < threads; ++i) twist();
}

void beat() { usleep(5'000); }

void weave(int rows) {
  for (int i = 0; i < rows; ++i) beat();
}

void name(std::thread& thread, const char* text) {
  pthread_setname_np(thread.native_handle(), text);
}

}  // namespace

int main() {
  std::thread first([] { spin(10); });
  std::thread second([] { spin(20); });
  std::thread weaver([] { weave(4); });
  name(first, "spinner-1");
  name(second, "spinner-2");
  name(weaver, "weaver");
  first.join();
  second.join();
  weaver.join();
}

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

// A thread that has ended can be given no name.
pthread_barrier_t named;

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
  pthread_barrier_init(&named, nullptr, 4);
  std::thread first([] {
    pthread_barrier_wait(&named);
    spin(10);
  });
  std::thread second([] {
    pthread_barrier_wait(&named);
    spin(20);
  });
  std::thread weaver([] {
    pthread_barrier_wait(&named);
    weave(4);
  });
  name(first, "spinner-1");
  name(second, "spinner-2");
  name(weaver, "weaver");
  pthread_barrier_wait(&named);
  first.join();
  second.join();
  weaver.join();
}

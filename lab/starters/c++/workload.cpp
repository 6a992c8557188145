// How many primes are there below n? Put your own work here: the problem, a function a model, and
// an oracle that finds the answer in another way.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "heddle_lab.hpp"

namespace {

bool is_prime(long candidate) {
  if (candidate < 2) return false;
  for (long divisor = 2; divisor * divisor <= candidate; ++divisor) {
    if (candidate % divisor == 0) return false;
  }
  return true;
}

// The model `serial`: one after another.
long serial(long n) {
  long found = 0;
  for (long candidate = 0; candidate < n; ++candidate) found += is_prime(candidate);
  return found;
}

// The model `thread`: each thread takes the next number until there is none left.
long with_threads(long n, long threads) {
  std::atomic<long> next = 0;
  std::atomic<long> found = 0;
  std::vector<std::thread> workers;
  for (long i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      for (long candidate = next++; candidate < n; candidate = next++) found += is_prime(candidate);
    });
  }
  for (std::thread& worker : workers) worker.join();
  return found;
}

// The oracle: the sieve of Eratosthenes, another way to the same answer.
long sieve(long n) {
  std::vector<bool> composite(static_cast<std::size_t>(n));
  long found = 0;
  for (long i = 2; i < n; ++i) {
    if (composite[static_cast<std::size_t>(i)]) continue;
    ++found;
    for (long j = 2 * i; j < n; j += i) composite[static_cast<std::size_t>(j)] = true;
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  heddle_lab::program lab("@NAME@", argc, argv);
  const long n = lab.parameter("n", 20'000, 2, 100'000'000);
  const long threads = lab.parameter("threads", 2, 1, 1024);
  long found = 0;

  lab.model("serial", [&] { found = serial(n); });
  lab.model("thread", [&] { found = with_threads(n, threads); });

  return lab.run([&] {
    lab.result(std::to_string(found));
    const long expected = sieve(n);
    return heddle_lab::verdict{found == expected, "primes below " + std::to_string(n) + ": " +
                                                      std::to_string(found) + ", by a sieve " +
                                                      std::to_string(expected)};
  });
}

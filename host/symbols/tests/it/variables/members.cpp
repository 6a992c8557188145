// Prints, of objects that lie in variables: address, size, and what C++ calls them.
#include "members.hpp"

#include <pthread.h>
#include <semaphore.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <tuple>

void show(const volatile void* object, std::size_t bytes, const char* name) {
  std::printf("%p %zx %s\n", const_cast<const void*>(object), bytes, name);
}

namespace {

// By a variable, and the distance from it, where no member is to be told.
#define AT(variable, object) \
  at(#variable, reinterpret_cast<const char*>(&(variable)), &(object), sizeof(object))

void at(const char* name, const char* variable, const volatile void* object, std::size_t bytes) {
  char text[100];
  const auto distance = static_cast<const char*>(const_cast<const void*>(object)) - variable;
  std::snprintf(text, sizeof text, distance == 0 ? "%s" : "%s+%#tx", name, distance);
  show(object, bytes, text);
}

struct Queue {
  int size;
  pthread_mutex_t lock;
  pthread_cond_t filled;
  std::atomic<int> word;
};
typedef volatile Queue Other;
using Another = const Other;

struct Pool {
  char name[20];
  Queue queues[4];
  Account accounts[2][3];
  std::array<Account, 3> array;
  std::array<std::array<std::mutex, 2>, 2> nested;
  mutable std::shared_mutex table;
};

struct Left {
  std::mutex lock;
  std::mutex only;
};
struct Right {
  int number;
  std::mutex lock;
};
struct Both : Left, Right {
  sem_t tokens;
};
struct Hides : Left {
  std::mutex lock;
};
// The member lies in the end of the base, which is padding.
struct Padded {
  Padded() {}
  long number = 0;
  int other = 0;
};
struct InPadding : Padded {
  std::atomic<int> flag;
  char end;
};
struct Derived : std::mutex {
  int number;
};
struct Virtual : virtual Left {
  std::mutex own;
};
struct Polymorphic {
  virtual ~Polymorphic() = default;
  std::mutex lock;
};

struct Anonymous {
  int number;
  union {
    pthread_mutex_t mutex;
    char bytes[64];
  };
  struct {
    pthread_rwlock_t rwlock;
  };
  union {
    int first;
    int second;
  };
  unsigned bits : 3;
  unsigned more : 5;
  pthread_spinlock_t spin;
};

struct Templates {
  std::tuple<Account, Account> accounts;
  std::optional<Account> maybe;
  std::once_flag once;
  std::condition_variable_any any;
};

template <class T>
struct Holder {
  T value;
  static inline Account shared;
};

struct Raw {
  char name[8];
  alignas(8) char storage[40];
};

Pool pool;
Both both;
Hides hides;
InPadding in_padding;
Derived derived;
Virtual virtually;
Polymorphic polymorphic;
Anonymous anonymous;
Templates templates;
Raw raw;
Account accounts[3];
std::mutex plain;
std::mutex plains[2][5];
Queue matrix[2][3];
alignas(16) Another qualified{};

Account& local_static() {
  static Account kept;
  SHOW(kept.lock);
  return kept;
}

}  // namespace

extern Account declared_first;
Account declared_first;
Account Holds::account_of_class;
Holds holds;

int main() {
  SHOW(pool.queues[3].lock);
  SHOW(pool.queues[0].filled);
  SHOW(pool.queues[2].word);
  SHOW(pool.queues[1].size);
  SHOW(pool.accounts[1][2].lock);
  SHOW(pool.accounts[0][1].lock);
  SHOW(pool.array[1].lock);
  SHOW(pool.nested[1][0]);
  SHOW(pool.table);
  SHOW(both.Left::lock);
  SHOW(both.Right::lock);
  SHOW(both.only);
  SHOW(both.tokens);
  SHOW(both.number);
  SHOW(hides.lock);
  SHOW(hides.Left::lock);
  SHOW(hides.only);
  SHOW(in_padding.flag);
  SHOW(in_padding.other);
  show(&derived, 40, "derived");
  SHOW(virtually.own);
  AT(virtually, virtually.only);
  SHOW(polymorphic.lock);
  SHOW(anonymous.mutex);
  SHOW(anonymous.rwlock);
  AT(anonymous, anonymous.first);
  SHOW(anonymous.spin);
  AT(templates.accounts, std::get<1>(templates.accounts).lock);
  AT(templates.maybe, templates.maybe.emplace().lock);
  SHOW(templates.once);
  SHOW(Holder<int>::shared.lock);
  AT(raw, raw.storage);
  SHOW(accounts[2].lock);
  SHOW(plain);
  SHOW(plains[1][4]);
  SHOW(matrix[1][2].word);
  SHOW(qualified.lock);
  SHOW(declared_first.lock);
  SHOW(Holds::account_of_class.lock);
  SHOW(holds.inner.lock);
  SHOW(holds.inner.deeper[1].word);
  local_static();
  other_unit();
}

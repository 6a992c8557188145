// What two units have.
#pragma once
#include <atomic>
#include <mutex>

struct Inner {
  struct Deeper {
    char first;
    std::atomic<int> word;
  };
  Deeper deeper[2];
  std::mutex lock;
};

struct Account {
  long balance;
  std::mutex lock;
};

struct Holds {
  int number;
  Inner inner;
  static Account account_of_class;
};

inline Holds everywhere;

void show(const volatile void* object, std::size_t bytes, const char* name);
void other_unit();

// By the program's own text.
#define SHOW(object) show(&(object), sizeof(object), #object)

// Coroutines of QCoro, which Qt's event loop goes on with: they begin at once, end by themselves,
// and several may wait for one.
#include <qcoro/qcorotask.h>
#include <qcoro/qcorotimer.h>

#include <QCoreApplication>
#include <QTimer>
#include <chrono>

#include "../chance.hpp"

namespace {

QCoro::Task<> naps(int number) {
  truth::call here{"naps", truth::coroutine()};
  const truth::guard last{here};
  QTimer timer;
  timer.setSingleShot(true);
  timer.start(std::chrono::milliseconds(chance(2)));
  if (number % 3 != 0) co_await timer;
  here.back();
  truth::point();
}

QCoro::Task<int> asks_often(int depth) {
  truth::call here{"asks_often", truth::coroutine()};
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    co_await naps(i);
    here.back();
    truth::point();
    if (depth > 0) sum += co_await asks_often(depth - 1);
    here.back();
    truth::point();
  }
  co_return sum + 1;
}

QCoro::Task<> lives(int& alive) {
  truth::call here{"lives", truth::coroutine()};
  const truth::guard last{here};
  for (int i = 0; i < 3; ++i) {
    co_await asks_often(1);
    here.back();
    truth::point();
    co_await naps(i);
    here.back();
  }
  if (--alive == 0) QCoreApplication::quit();
}

}  // namespace

TRACED int main(int count, char** arguments) {
  const truth::call here{"main"};
  const QCoreApplication application(count, arguments);
  int alive = 20;
  QTimer::singleShot(0, [&]() PLAIN {
    for (int i = 0; i < 20; ++i) {
      lives(alive);
      here.back();
    }
  });
  QCoreApplication::exec();
  here.back();
  truth::point();
}

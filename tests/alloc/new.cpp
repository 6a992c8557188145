// new: operator new and delete of the C++ library come through malloc. With -DOWN, the program has
// its own, which do not.
#include <cstddef>
#include <memory>
#include <vector>

#ifdef OWN
namespace {
alignas(16) char arena[1 << 20];
std::size_t used = 0;
}  // namespace
void* operator new(std::size_t bytes) {
  void* const block = arena + used;
  used += (bytes + 15) & ~std::size_t{15};
  return block;
}
void operator delete(void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}
#endif

int main() {
  std::vector<std::unique_ptr<int>> all;
  all.reserve(1000);
  for (int i = 0; i < 1000; ++i) all.push_back(std::make_unique<int>(i));
  return *all.back() == 999 ? 0 : 1;
}

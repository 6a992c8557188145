// Virtual functions called by a base that is not the first: GCC's thunks adjust `this` by a number,
// or by one from the virtual table, and jump to the function; those of covariant results are
// functions that call it. A jumping thunk calls __return__, and has not called __fentry__.
struct Source {
  virtual int read(int by) = 0;
};
struct Target {
  virtual int write(int by) = 0;
  virtual Target* self() = 0;
};
struct Device {
  virtual int reset(int by) = 0;
};
struct File : Source, Target, virtual Device {
  int read(int by) override;
  int write(int by) override;
  File* self() override;
  int reset(int by) override;
  int number = 3;
};

#define CALLED __attribute__((noipa))

CALLED int File::read(int by) { return number + by; }
CALLED int File::write(int by) { return number * by; }
CALLED File* File::self() { return this; }
CALLED int File::reset(int by) { return number - by; }

static CALLED int by_target(Target* target) { return target->write(5) + 1; }
static CALLED int by_device(Device* device) { return device->reset(1) + 1; }
static CALLED int by_result(Target* target) { return target->self() == target; }

int main() {
  static File file;
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    sum += by_target(&file) + by_device(&file) + by_result(&file);
  }
  return sum == 3 * (16 + 3 + 1) ? 0 : 1;
}

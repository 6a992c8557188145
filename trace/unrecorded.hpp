// Programs that are started and libraries that are opened which cannot be recorded, because the
// loader does not take our library to them. A line each in the trace says so.
#pragma once

namespace heddle::trace {

/// Notes that the library at `path`, which was opened, is not recorded for this reason: a word.
void note_unrecorded(const char* why, const char* path);

/// A program that is about to be started. No heap, and errno as it was: a child of vfork or a
/// signal handler may be what starts it.
class Started {
 public:
  /// The program at `path`, which is relative to the directory that `directory` is open at, or to
  /// the working directory (AT_FDCWD). An empty path: the file that `directory` is open at.
  Started(int directory, const char* path)
      : directory_(directory), path_(path), why_(look(directory, path)) {}

  /// The program that PATH has by this name, if there is no slash in it.
  explicit Started(const char* name) : directory_(-1), path_(name), why_(search(name)) {}

  /// Notes that it has been started. A start that fails afterwards is to be taken back.
  void note() const { write("started "); }
  void take_back() const { write("failed "); }

 private:
  static const char* look(int directory, const char* path);
  static const char* search(const char* name);
  void write(const char* what) const;

  int directory_;
  const char* path_;
  const char* why_;  ///< null: it can be recorded, as far as is known
};

}  // namespace heddle::trace

// Makes the filter's plans as heddle record does: one for each module of each process, by
// docs/trace-format.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

/// The patterns' verdicts (kIncluded …) by function name.
using Patterns = std::map<std::string, std::uint32_t>;

/// Names of functions by their addresses in the file: start and size.
using Symbols = std::map<std::uint64_t, std::pair<std::uint64_t, std::string>>;
[[nodiscard]] const Symbols& symbols_of(const std::string& path);

/// How requests are answered: by plans; by plans which say of each module that it could not be read
/// for lack of memory; for that reason by none; or by none as `modules` is cut short.
enum class Answers { kPlans, kUnread, kRefusal, kCut };

/// Answers requests for plans from when it is made until it goes.
class Planner {
 public:
  Planner(const std::filesystem::path& trace, Patterns patterns, Answers answers = Answers::kPlans);
  ~Planner();
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;
  [[nodiscard]] int answered() const { return answered_; }
  [[nodiscard]] std::uint32_t requests() const;

 private:
  void answer_all();
  void answer(const std::filesystem::path& process);

  std::filesystem::path trace_;
  Patterns patterns_;
  Answers answers_;
  int descriptor_;
  char* control_;
  std::map<std::filesystem::path, std::pair<std::uint64_t, int>> done_;  ///< bytes, plans
  std::atomic<bool> end_ = false;
  std::atomic<int> answered_ = 0;
  std::thread thread_;
};

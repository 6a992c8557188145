// The part of a lab program that is the same in each: it reads the command line, runs one model,
// has the result checked, and prints the one JSON line that `heddle compare` reads. C11, Linux.
//
//     static const struct heddle_lab_parameter parameters[] = {{"n", 20000, 2, 1000000}, {0}};
//     static const struct heddle_lab_model models[] = {{"serial", serial}, {0}};
//     int main(int argc, char **argv) {
//       return heddle_lab_run("primes", argc, argv, parameters, models, check);
//     }
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { HEDDLE_LAB_MOST = 16 };  // parameters

/// A parameter; an array of them ends with one without a name.
struct heddle_lab_parameter {
  const char* name;
  long fallback;     ///< its value where the command line gives none
  long least, most;  ///< others are refused
};

/// What a model and the oracle get: the parameters' values, in the order of their declarations.
struct heddle_lab_run {
  long values[HEDDLE_LAB_MOST];
  char result[200];   ///< the model's: its answer or a checksum of it, the same for all models
  char checked[200];  ///< the oracle's: what it has compared
};

/// A model: its name, and what is measured. An array of them ends with one without a name.
struct heddle_lab_model {
  const char* name;
  void (*body)(struct heddle_lab_run*);
};

static inline double heddle_lab_clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

// Prints a string of JSON.
static inline void heddle_lab_quote(const char* text) {
  putchar('"');
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\') putchar('\\');
    putchar((unsigned char)*text < 0x20 ? ' ' : *text);
  }
  putchar('"');
}

static inline int heddle_lab_usage(const char* program, const char* argument, const char* why) {
  fprintf(stderr, "error: %s: %s\nusage: %s --model=MODEL [--NAME=VALUE ...], or --list\n",
          argument, why, program);
  return 2;
}

/// Runs the model that the command line names, has `oracle` check its result, and prints the line.
/// Returns the exit code: 0, or 1 if the line could not be written, or 2 for a wrong command line.
static inline int heddle_lab_run(const char* workload, int argc, char** argv,
                                 const struct heddle_lab_parameter* parameters,
                                 const struct heddle_lab_model* models,
                                 bool (*oracle)(struct heddle_lab_run*)) {
  struct heddle_lab_run run;
  memset(&run, 0, sizeof run);
  int count = 0;
  for (; parameters[count].name != NULL; ++count) {
    if (count == HEDDLE_LAB_MOST) return heddle_lab_usage(argv[0], workload, "too many parameters");
    run.values[count] = parameters[count].fallback;
  }
  const struct heddle_lab_model* model = NULL;
  const char* wanted = "";
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--list") == 0) {
      for (const struct heddle_lab_model* each = models; each->name != NULL; ++each) {
        puts(each->name);
      }
      return 0;
    }
    const char* equals = strchr(argv[i], '=');
    if (strncmp(argv[i], "--", 2) != 0 || equals == NULL) {
      return heddle_lab_usage(argv[0], argv[i], "expected --NAME=VALUE");
    }
    const char* name = argv[i] + 2;
    const size_t length = (size_t)(equals - name);
    if (length == strlen("model") && strncmp(name, "model", length) == 0) {
      wanted = equals + 1;
      continue;
    }
    int at = 0;
    while (at < count && (strlen(parameters[at].name) != length ||
                          strncmp(name, parameters[at].name, length) != 0)) {
      ++at;
    }
    if (at == count) return heddle_lab_usage(argv[0], argv[i], "there is no such parameter");
    char* end = NULL;
    run.values[at] = strtol(equals + 1, &end, 10);
    if (equals[1] == '\0' || *end != '\0' || run.values[at] < parameters[at].least ||
        run.values[at] > parameters[at].most) {
      char why[100];
      snprintf(why, sizeof why, "expected %ld to %ld", parameters[at].least, parameters[at].most);
      return heddle_lab_usage(argv[0], argv[i], why);
    }
  }
  for (const struct heddle_lab_model* each = models; each->name != NULL; ++each) {
    if (strcmp(each->name, wanted) == 0) model = each;
  }
  if (model == NULL) {
    return heddle_lab_usage(argv[0], "--model", "expected one of those that --list prints");
  }

  struct rusage before;
  struct rusage after;
  getrusage(RUSAGE_SELF, &before);
  const double cpu_start = heddle_lab_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  const double start = heddle_lab_clock_ns(CLOCK_MONOTONIC);
  model->body(&run);
  const double wall_ns = heddle_lab_clock_ns(CLOCK_MONOTONIC) - start;
  const double cpu_ns = heddle_lab_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
  getrusage(RUSAGE_SELF, &after);
  const bool ok = oracle(&run);

  printf("{\"workload\":");
  heddle_lab_quote(workload);
  printf(",\"model\":");
  heddle_lab_quote(model->name);
  printf(",\"params\":{");
  for (int i = 0; i < count; ++i) {
    if (i != 0) putchar(',');
    heddle_lab_quote(parameters[i].name);
    printf(":%ld", run.values[i]);
  }
  printf("},\"oracle\":{\"ok\":%s,\"checked\":", ok ? "true" : "false");
  heddle_lab_quote(run.checked);
  printf("},\"result\":");
  heddle_lab_quote(run.result);
  printf(",\"metrics\":{\"wall_ns\":%.0f,\"cpu_ns\":%.0f}", wall_ns, cpu_ns);
  printf(",\"counters\":{\"voluntary_switches\":%ld,\"involuntary_switches\":%ld}}\n",
         after.ru_nvcsw - before.ru_nvcsw, after.ru_nivcsw - before.ru_nivcsw);
  return fflush(stdout) == 0 ? 0 : 1;
}

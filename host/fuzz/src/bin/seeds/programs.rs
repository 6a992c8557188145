//! Programs that compilers made, as small as they can be with what our code reads of them.

use super::Corpus;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A coroutine without a library: its types are what the compilers ask for.
const COROUTINE: &str = r#"
namespace std {
template <class R, class... A> struct coroutine_traits {
  using promise_type = typename R::promise_type;
};
template <class P = void> struct coroutine_handle;
template <> struct coroutine_handle<void> {
  static coroutine_handle from_address(void* a) { coroutine_handle h; h.at = a; return h; }
  void* at;
};
template <class P> struct coroutine_handle : coroutine_handle<> {
  static coroutine_handle from_address(void* a) { coroutine_handle h; h.at = a; return h; }
};
struct suspend_always {
  bool await_ready() noexcept { return false; }
  void await_suspend(coroutine_handle<>) noexcept {}
  void await_resume() noexcept {}
};
}
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
Task fetch(int n) {
  int held = n;
  co_await std::suspend_always{};
  held += n;
  co_await std::suspend_always{};
}
"#;

const PLAIN: &str = r#"
int leaf(int n);
static int inner(int n) { return n > 1 ? leaf(n - 1) + 1 : n; }
int outer(int n) { return inner(n) * inner(n + 1); }
int last(int n) { return leaf(n + 2); }
"#;

/// What arguments and results may be: every class of value that a recipe finds.
const VALUES: &str = r#"
namespace std { namespace __cxx11 {
template <class C, class T, class A> struct basic_string {
  char* data;
  unsigned long size;
  char room[16];
};
}
using string = __cxx11::basic_string<char, int, int>;
}
enum class Colour : short { red = -1, green, blue };
struct Pair { int a; float b; };
struct Wide { long a[3]; double b; Colour c; Pair in; const char* name; };
struct Base { virtual int turn(bool, char); int held; };
struct Derived : virtual Base { int turn(bool, char) override; };
int Base::turn(bool yes, char c) { return yes ? c : held; }
int Derived::turn(bool yes, char c) { return Base::turn(!yes, c); }
template <class T> T twice(T value, T& out) { return out = value + value; }
template long twice(long, long&);
template double twice(double, double&);
Pair swap(Pair p, const Wide& w, Colour c) { return {w.in.a + int(c), p.b}; }
Wide widen(const char* text, std::string by_address, const std::string& kept, unsigned char small,
           long double large, int many, int on, int stack) {
  Wide made{};
  made.a[0] = by_address.size + kept.size + small + many + on + stack + (large > 1);
  made.name = text;
  return made;
}
"#;

/// Compiles each of them in some ways, with the compilers that are there.
pub fn compile(scratch: &Path, corpus: &Corpus) {
    let hooks = "-finstrument-functions";
    let sources = [
        ("coroutine", COROUTINE),
        ("plain", PLAIN),
        ("values", VALUES),
    ];
    let ways: [(&str, &[&str]); 7] = [
        ("debug", &[hooks, "-g"]),
        ("fast", &[hooks, "-g", "-O2"]),
        ("dwarf4", &[hooks, "-gdwarf-4"]),
        ("compressed", &[hooks, "-g", "-gz"]),
        ("stripped", &[hooks, "-s", "-O2"]),
        (
            "returns",
            &["-O2", "-pg", "-mfentry", "-minstrument-return=call"],
        ),
        (
            "returns-debug",
            &["-g", "-O1", "-pg", "-mfentry", "-minstrument-return=call"],
        ),
    ];
    for (name, source) in sources {
        let file = scratch.join(format!("{name}.cpp"));
        fs::write(&file, source).unwrap();
        for compiler in ["g++", "clang++-16"] {
            for (way, flags) in ways {
                let to = scratch.join("module");
                let status = Command::new(compiler)
                    .args([
                        "-std=c++20",
                        "-shared",
                        "-fPIC",
                        "-nostdlib",
                        "-Wl,--build-id",
                    ])
                    .args([
                        "-fno-exceptions",
                        "-w",
                        "-Wl,-z,noseparate-code",
                        "-Wl,-z,max-page-size=512",
                    ])
                    .args(flags)
                    .arg("-o")
                    .args([&to, &file])
                    .output();
                if status.is_ok_and(|output| output.status.success()) {
                    corpus.add(&format!("{name}-{compiler}-{way}"), &fs::read(&to).unwrap());
                }
            }
        }
    }
}

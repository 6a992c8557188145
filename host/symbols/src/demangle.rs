//! Names as the programmer wrote them, by libstdc++'s own demangler: it is right where others drop
//! or misprint parts.

use crate::{CoroutinePart, coroutine_part, cxa};
use std::borrow::Cow;
use std::ops::Range;

/// The readable form of a symbol's name.
///
/// The parts that a coroutine is split into bear its name: `f() [resume]`, `f() [destroy]`. Clones
/// that the optimiser makes (`.constprop`, `.isra`, `.part`, `.cold`, `.lto_priv`) are the function
/// they were cut from, and get its name. What is not a C++ name stays as it is, and so does a name
/// that stands for a text of more than 64 KiB.
///
/// ```
/// assert_eq!(heddle_symbols::demangle("_Z3addii.constprop.0"), "add(int, int)");
/// let actor = "_Z4leafPZ4leafiE14_Z4leafi.Frame.actor";
/// assert_eq!(heddle_symbols::demangle(actor), "leaf(int) [resume]");
/// assert_eq!(heddle_symbols::demangle("main"), "main");
/// ```
pub fn demangle(symbol: &str) -> String {
    // A version (`name@@GLIBC_2.2.5`) says nothing about the function.
    let symbol = symbol.split_once('@').map_or(symbol, |(name, _)| name);
    let (name, part, suffixes) = match (coroutine_part(symbol), symbol.find('.')) {
        (Some((coroutine, part, suffixes)), _) => (coroutine, Some(part), suffixes),
        (None, Some(dot)) if dot > 0 => (&symbol[..dot], None, &symbol[dot..]),
        _ => (symbol, None, ""),
    };
    let mut readable = if name.starts_with("_Z") {
        cxa_demangle(name).unwrap_or_else(|| name.to_owned())
    } else {
        name.to_owned()
    };
    if let Some(part) = part {
        readable = format!("{readable} {}", part.label());
    }
    let mut parts = suffixes.split('.').skip(1).peekable();
    while let Some(part) = parts.next() {
        match part {
            "constprop" | "isra" | "part" | "cold" | "lto_priv" | "localalias" => {
                while parts
                    .next_if(|number| number.bytes().all(|b| b.is_ascii_digit()))
                    .is_some()
                {}
            }
            _ => return demangle_whole(symbol),
        }
    }
    readable
}

/// A name with a suffix that we don't know, as the demangler prints it.
fn demangle_whole(symbol: &str) -> String {
    if symbol.starts_with("_Z") {
        cxa_demangle(symbol).unwrap_or_else(|| symbol.to_owned())
    } else {
        symbol.to_owned()
    }
}

fn cxa_demangle(mangled: &str) -> Option<String> {
    cxa::demangle(mangled).map(|text| abbreviate(&text).into_owned())
}

/// Text with `std::string` and its kin for what they are templates of: no source says
/// `std::__cxx11::basic_string<char, …>`. The Itanium ABI does so itself (`Ss`), but libstdc++'s
/// strings of today lie in an inline namespace that it knows nothing of.
///
/// ```
/// let name =
///     "f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)";
/// assert_eq!(heddle_symbols::abbreviate(name), "f(std::string const&)");
/// ```
pub fn abbreviate(name: &str) -> Cow<'_, str> {
    if !name.contains("std::") || !name.contains("basic_string") {
        return name.into();
    }
    let mut name = name.to_owned();
    for (character, prefix) in [
        ("char", ""),
        ("wchar_t", "w"),
        ("char8_t", "u8"),
        ("char16_t", "u16"),
        ("char32_t", "u32"),
    ] {
        let traits = format!("{character}, std::char_traits<{character}>");
        let string = format!("basic_string<{traits}, std::allocator<{character}> >");
        let polymorphic =
            format!("basic_string<{traits}, std::pmr::polymorphic_allocator<{character}> >");
        for (long, short) in [
            (format!("std::__cxx11::{string}"), "string"),
            (format!("std::{string}"), "string"),
            (format!("std::__cxx11::{polymorphic}"), "pmr::string"),
            (format!("std::basic_string_view<{traits} >"), "string_view"),
        ] {
            let short = match short.strip_prefix("pmr::") {
                Some(short) => format!("std::pmr::{prefix}{short}"),
                None => format!("std::{prefix}{short}"),
            };
            // The space kept the long form's last bracket apart from the next one.
            name = name
                .replace(&format!("{long} >"), &format!("{short}>"))
                .replace(&long, &short);
        }
    }
    name.into()
}

/// A readable name without its parameter list and, for a template function, without its return
/// type: what people call it.
///
/// ```
/// use heddle_symbols::without_parameters;
/// assert_eq!(without_parameters("ns::add(int, std::vector<int>)"), "ns::add");
/// assert_eq!(without_parameters("void apply<int (*)(int)>(int)"), "apply<int (*)(int)>");
/// let lambda = "main::{lambda(int)#1}::operator()(int) const";
/// assert_eq!(without_parameters(lambda), "main::{lambda(int)#1}::operator()");
/// assert_eq!(without_parameters("step() [resume]"), "step [resume]");
/// ```
pub fn without_parameters(name: &str) -> String {
    let (function, part) = coroutine_apart(name);
    format!("{}{part}", &function[qualified(function)])
}

/// A readable name without its return type, which only those of template functions have.
///
/// ```
/// use heddle_symbols::without_return_type;
/// assert_eq!(without_return_type("void ns::swap<int>(int&, int&)"), "ns::swap<int>(int&, int&)");
/// assert_eq!(without_return_type("ns::add(int, int)"), "ns::add(int, int)");
/// ```
pub fn without_return_type(name: &str) -> &str {
    &name[qualified(coroutine_apart(name).0).start..]
}

/// A readable name, and what follows it if it is that of a part of a coroutine: ` [resume]`.
pub(crate) fn coroutine_apart(name: &str) -> (&str, &str) {
    let function = [
        CoroutinePart::Resume,
        CoroutinePart::Destroy,
        CoroutinePart::Cleanup,
    ]
    .into_iter()
    .find_map(|part| name.strip_suffix(part.label())?.strip_suffix(' '))
    .unwrap_or(name);
    name.split_at(function.len())
}

/// Functions that return pointers to functions that do so again, in a name: a name of more is no
/// compiler's.
const DEEPEST: usize = 16;

/// Where the qualified name is in a readable one: behind the return type, before the parameters.
pub(crate) fn qualified(name: &str) -> Range<usize> {
    let mut range = 0..name.len();
    for _ in 0..DEEPEST {
        let part = &name[range.clone()];
        let Some(open) = parameter_list(part) else {
            break;
        };
        let start = return_type(&part[..open]);
        range = range.start + start..range.start + open;
        // `int (*pick<int>(bool))(char)` has the parameter `bool`, and returns a pointer to a
        // function.
        match part[start..open].strip_suffix(')') {
            Some(inner) if inner.starts_with("(*") || inner.starts_with("(&") => {
                range = range.start + 2..range.end - 1;
            }
            _ => break,
        }
    }
    range
}

/// Where the parameter list begins: the bracket that the last `)` at depth 0 closes; ` const`, ` &`
/// and the like may follow it.
fn parameter_list(name: &str) -> Option<usize> {
    let end = name.rfind(')')?;
    let mut depth = 0;
    for (index, byte) in name.as_bytes()[..=end].iter().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => {
                depth -= 1;
                if depth == 0 {
                    return (index > 0 && !name[end..].contains(['}', '>'])).then_some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// How many bytes of return type precede the name: up to the last space outside all brackets,
/// unless `operator` is before it.
fn return_type(name: &str) -> usize {
    let limit = name.find("operator").unwrap_or(name.len());
    let mut depth = 0_i32;
    let mut after = 0;
    for (index, byte) in name[..limit].bytes().enumerate() {
        match byte {
            b'(' | b'<' | b'{' | b'[' => depth += 1,
            // An arrow in a `decltype`.
            b'>' if index > 0 && name.as_bytes()[index - 1] == b'-' => {}
            b')' | b'>' | b'}' | b']' => depth -= 1,
            b' ' if depth == 0 => after = index + 1,
            _ => {}
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program's symbols may have any names; these are no demangler's.
    #[test]
    fn a_name_of_functions_that_return_pointers_to_functions_without_end_is_read() {
        let name = |depth| format!("{}f(int){}", "(*".repeat(depth), ")()".repeat(depth));
        assert_eq!(without_parameters(&name(DEEPEST - 1)), "f");
        let deep = name(200_000);
        assert!(deep.contains(&without_parameters(&deep)));
    }

    /// Each parameter is a pair of the one before it, twice as long: 27 of them are gigabytes.
    #[test]
    fn a_name_that_doubles_with_each_parameter_stays_as_the_linker_has_it() {
        let number = |it: usize| match it {
            0 => "S_".to_owned(),
            1..=10 => format!("S{}_", it - 1),
            _ => format!("S{}_", char::from(b'A' + (it - 11) as u8)),
        };
        let bomb = |parameters: usize| {
            let pairs = (1..parameters).map(|it| format!("S_I{0}{0}E", number(it)));
            format!("_Z1fSt4pairIiiE{}", pairs.collect::<String>())
        };
        assert!(demangle(&bomb(3)).starts_with("f(std::pair<int, int>, std::pair<std::pair<"));
        assert_eq!(demangle(&bomb(27)), bomb(27));
    }

    #[test]
    fn names_read_as_they_were_written() {
        for (symbol, readable) in [
            ("_Z3fibi", "fib(int)"),
            ("_ZL6helperv", "helper()"),
            ("_ZN1AC2Ev", "A::A()"),
            (
                "_ZNSt6vectorIiSaIiEEC1ESt16initializer_listIiERKS0_",
                "std::vector<int, std::allocator<int> >::vector(std::initializer_list<int>, std::allocator<int> const&)",
            ),
            (
                "_Z1fRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
                "f(std::string const&)",
            ),
            ("_Z1fSs", "f(std::string)"),
            (
                "_Z1fNSt7__cxx1112basic_stringIwSt11char_traitsIwESaIwEEE",
                "f(std::wstring)",
            ),
            (
                "_Z1fNSt7__cxx1112basic_stringIcSt11char_traitsIcENSt3pmr21polymorphic_allocatorIcEEEE",
                "f(std::pmr::string)",
            ),
            (
                "_Z1fSt17basic_string_viewIcSt11char_traitsIcEE",
                "f(std::string_view)",
            ),
            (
                "_Z1fSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE",
                "f(std::vector<std::string, std::allocator<std::string> >)",
            ),
            (
                "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc",
                "std::string::append(char const*)",
            ),
            // Characters of one's own have no such name.
            (
                "_Z1fNSt7__cxx1112basic_stringIhSt11char_traitsIhESaIhEEE",
                "f(std::__cxx11::basic_string<unsigned char, std::char_traits<unsigned char>, std::allocator<unsigned char> >)",
            ),
            ("sortRun.part.0.constprop.1", "sortRun"),
            ("_Z4taskv.destroy", "task() [destroy]"),
            ("_Z4taskv.resume", "task() [resume]"),
            (
                "_Z4leafPZ4leafiE14_Z4leafi.Frame.actor.cold",
                "leaf(int) [resume]",
            ),
            (
                "_ZN2ns1S6memberEPZNKS0_6memberENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEE75_ZNK2ns1S6memberENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE.Frame.destroy",
                "ns::S::member(std::string) const [destroy]",
            ),
            (
                "_ZZ4mainENUlT_E0_clEPZZ4mainENKS0_clIdEE4taskS_E37_ZZ4mainENKUlT_E0_clIdEE4taskS_.Frame.actor.constprop.0",
                "task main::{lambda(auto:1)#2}::operator()<double>(double) const [resume]",
            ),
            (
                "_ZN2ns4tmplEPZNS_4tmplIiEE4taskT_iE29_ZN2ns4tmplIiEE4taskT_i.Frame.actor",
                "task ns::tmpl<int>(int, int) [resume]",
            ),
            ("odd.Frame.actor", "odd [resume]"),
            (
                "_Z1fPZ1fvE99_Z1fv.Frame.actor",
                "_Z1fPZ1fvE99_Z1fv [resume]",
            ),
            ("_Z3foov.llvm.123", "foo() [clone .llvm.123]"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("_Znonsense", "_Znonsense"),
            (".L1", ".L1"),
            ("", ""),
        ] {
            assert_eq!(demangle(symbol), readable, "{symbol}");
        }
    }

    #[test]
    fn the_short_name_is_what_people_say() {
        for (name, short) in [
            ("main", "main"),
            ("f()", "f"),
            ("A::get() const", "A::get"),
            (
                "unsigned long pick<unsigned long>(unsigned long)",
                "pick<unsigned long>",
            ),
            ("operator new(unsigned long)", "operator new"),
            ("bool operator< <int>(X<int> const&)", "operator< <int>"),
            ("A::operator()(int)", "A::operator()"),
            (
                "(anonymous namespace)::run(int)",
                "(anonymous namespace)::run",
            ),
            ("int (*pick<int>(bool))(char)", "pick<int>"),
            ("int (&ns::pick<int>(bool))(char)", "ns::pick<int>"),
            (
                "std::enable_if<true, void>::type std::f<int>(int (*)(int))",
                "std::f<int>",
            ),
            ("main::{lambda()#1}", "main::{lambda()#1}"),
            ("libc.so.6+0x29d68", "libc.so.6+0x29d68"),
        ] {
            assert_eq!(without_parameters(name), short);
        }
    }
}

//! Names cut to what people look at: without template arguments, return type and what else fills
//! lines. They are for reading; two functions may have the same.

use crate::demangle::{coroutine_apart, demangle, qualified};

/// Parameter lists longer than this, in bytes, become `(…)`.
const LONGEST_PARAMETERS: usize = 40;

/// A readable name without template arguments, return type, unnamed and inline namespaces and
/// qualifiers. A lambda is called by its number. A name that is not balanced stays whole.
///
/// ```
/// use heddle_symbols::short_name;
/// let whole = "std::vector<int, std::allocator<int> >::push_back(int const&)";
/// assert_eq!(short_name(whole), "std::vector::push_back(int const&)");
/// assert_eq!(short_name("void apply<int (*)(int)>(X<int> const&)"), "apply(X const&)");
/// assert_eq!(short_name("main::{lambda(int)#1}::operator()(int) const"), "main::{lambda#1}(int)");
/// assert_eq!(short_name("step() [resume]"), "step() [resume]");
/// ```
pub fn short_name(name: &str) -> String {
    // What initialises a file's variables is named after one of its symbols.
    if let Some(symbol) = name.strip_prefix(INITIALISES) {
        return INITIALISES.to_owned() + &short_path(&demangle(symbol));
    }
    if !name.contains(['<', '(', '[', '{']) {
        return name.to_owned();
    }
    // A thunk that converts what a function returns has hooks of its own, and is not that function.
    for thunk in THUNKS {
        if let Some(function) = name.strip_prefix(thunk) {
            return thunk.to_owned() + &short_name(function);
        }
    }
    shortened(name).unwrap_or_else(|| name.to_owned())
}

/// The qualified name in [`short_name`]: that without parameters.
pub fn short_path(name: &str) -> String {
    let (function, part) = coroutine_apart(name);
    let path = &function[qualified(function)];
    match plain(path, Form::Path) {
        Some(path) => path + part,
        None => path.to_owned() + part,
    }
}

fn shortened(name: &str) -> Option<String> {
    let (function, part) = coroutine_apart(name);
    let range = qualified(function);
    let mut short = plain(&function[range.clone()], Form::Path)?;
    if let Some(length) = balanced(&function[range.end..]) {
        let inside = &function[range.end + 1..range.end + length - 1];
        let parameters = plain(inside, Form::Types)?;
        match parameters.len() {
            0..=LONGEST_PARAMETERS => short += &format!("({parameters})"),
            _ => short += "(…)",
        }
    }
    Some(short + part)
}

const INITIALISES: &str = "_GLOBAL__sub_I_";

/// What a readable name begins with that is a thunk's, to the function whose name follows.
const THUNKS: [&str; 3] = [
    "covariant return thunk to ",
    "non-virtual thunk to ",
    "virtual thunk to ",
];

/// What a text is a part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A qualified name: `(` begins the parameters of a function around it.
    Path,
    /// A list of types.
    Types,
}

/// Operators whose names have characters that are brackets elsewhere; a longer one is before what
/// it begins with.
const OPERATORS: [&str; 11] = [
    "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">",
];

/// What is left out wherever it stands.
const NOISE: [&str; 4] = ["(anonymous namespace)::", "__cxx11::", "__n4861::", "_V2::"];

/// The text without template arguments and [`NOISE`]; `None` if its brackets do not match.
fn plain(text: &str, form: Form) -> Option<String> {
    const OPERATOR: &str = "operator";
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let at_word = !short.ends_with(is_word);
        if let Some(noise) = NOISE.iter().find(|noise| rest.starts_with(**noise)) {
            rest = &rest[noise.len()..];
        } else if let Some(after) = rest.strip_prefix(OPERATOR)
            && at_word
            && !after.starts_with(is_word)
        {
            let special = ["()", "[]"].iter().chain(&OPERATORS);
            let symbol = special
                .into_iter()
                .find(|symbol| after.starts_with(**symbol));
            let symbol = symbol.map_or("", |symbol| symbol);
            short += OPERATOR;
            short += symbol;
            rest = &after[symbol.len()..];
            // `operator< <int>`
            rest = rest
                .strip_prefix(' ')
                .filter(|rest| rest.starts_with('<'))
                .unwrap_or(rest);
        } else if character == '<' || rest.starts_with("[abi:") {
            rest = &rest[balanced(rest)?..];
        } else if character == '(' && (form == Form::Path || short.ends_with("{lambda")) {
            rest = &rest[balanced(rest)?..];
            // ` const` of a member function, in whose scope the rest is.
            let end = rest.find("::").filter(|&end| {
                let qualifiers = &rest[..end];
                qualifiers
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || " &".contains(c))
            });
            rest = &rest[end.unwrap_or(0)..];
        } else {
            short.push(character);
            rest = &rest[character.len_utf8()..];
        }
    }
    // A lambda's call is the lambda.
    if form == Form::Path
        && let Some(lambda) = short.strip_suffix("::operator()")
        && lambda.ends_with('}')
    {
        short.truncate(lambda.len());
    }
    Some(short)
}

/// The length of the bracketed text that this one begins with, brackets included.
fn balanced(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    for (index, &byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => open.push(byte),
            // In round brackets it may be a comparison.
            b'<' if open.last().is_none_or(|&last| last == b'<') => open.push(byte),
            b')' | b']' | b'}' | b'>' => {
                let is_arrow = byte == b'>' && index > 0 && bytes[index - 1] == b'-';
                let is_other = byte == b'>' && open.last() != Some(&b'<');
                if is_arrow || is_other {
                    continue;
                }
                let begin = match byte {
                    b')' => b'(',
                    b']' => b'[',
                    b'}' => b'{',
                    _ => b'<',
                };
                if open.pop() != Some(begin) {
                    return None;
                }
            }
            _ => {}
        }
        if open.is_empty() {
            return (index > 0).then_some(index + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_to_what_people_look_at() {
        for (name, short) in [
            ("main", "main"),
            ("f()", "f()"),
            (
                "covariant return thunk to D<int>::copy(int) const",
                "covariant return thunk to D::copy(int)",
            ),
            ("libc.so.6+0x29d68", "libc.so.6+0x29d68"),
            ("int pick<int>(int)", "pick(int)"),
            ("ns::S<std::less<int> >::get() const", "ns::S::get()"),
            ("(anonymous namespace)::run(int)", "run(int)"),
            (
                "f(std::__cxx11::list<int, std::allocator<int> >)",
                "f(std::list)",
            ),
            ("A::operator()(int)", "A::operator()(int)"),
            (
                "A<int>::operator[](unsigned long)",
                "A::operator[](unsigned long)",
            ),
            (
                "bool operator< <int>(X<int> const&, X<int> const&)",
                "operator<(X const&, X const&)",
            ),
            (
                "std::ostream& std::operator<< <char>(std::ostream&)",
                "std::operator<<(std::ostream&)",
            ),
            ("A<int>::operator->() const", "A::operator->()"),
            ("operator new(unsigned long)", "operator new(unsigned long)"),
            (
                "S::operator std::vector<int>() const",
                "S::operator std::vector()",
            ),
            ("operators::f<int>()", "operators::f()"),
            ("f<(A)1, (2>1)>(int)", "f(int)"),
            ("f<&(g<int>(int))>(int)", "f(int)"),
            ("decltype ((x->y)()) f<A>(A)", "f(A)"),
            ("int (*pick<int>(bool))(char)", "pick(bool)"),
            (
                "ns::f(int)::{lambda(auto:1)#2}::operator()<int>(int) const::{lambda()#1}::operator()() const",
                "ns::f::{lambda#2}::operator()::{lambda#1}()",
            ),
            ("f[abi:cxx11](int)", "f(int)"),
            (
                "void for_each<int, g()::{lambda(int)#1}>(int, g()::{lambda(int)#1})",
                "for_each(int, g()::{lambda#1})",
            ),
            (
                "task echo(boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::any_io_executor>) [resume]",
                "echo(boost::asio::basic_stream_socket) [resume]",
            ),
            (
                "f(one::two::three::four, one::two::three::four, one::two::three::four)",
                "f(…)",
            ),
            ("foo() [clone .llvm.123]", "foo()"),
            ("_GLOBAL__sub_I__Z4pickIiEiT_", "_GLOBAL__sub_I_pick"),
            ("_GLOBAL__sub_I_main", "_GLOBAL__sub_I_main"),
            // No compiler's.
            ("f<", "f<"),
            ("f>(", "f>("),
            ("a)<(", "a)<("),
            ("", ""),
        ] {
            assert_eq!(short_name(name), short, "{name}");
        }
    }

    #[test]
    fn a_path_is_the_short_name_without_parameters() {
        for (name, path) in [
            ("int pick<int>(int)", "pick"),
            ("S<int>::f(X<int>) [resume]", "S::f [resume]"),
            ("main::{lambda()#1}::operator()() const", "main::{lambda#1}"),
        ] {
            assert_eq!(short_path(name), path);
        }
    }
}

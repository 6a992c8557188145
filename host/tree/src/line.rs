//! One line of the format, taken apart from its right end: `NAME [COUNT] [TIMES] [<- CALLER]`.

use crate::{Count, Times, duration};

/// What the line of a loop begins with. No function's name ends in a colon.
pub const LOOP: &str = "loop:";

/// The parts of a line.
pub struct Parts<'a> {
    pub name: &'a str,
    pub count: Count,
    pub times: Times,
    pub caller: Option<&'a str>,
}

/// Takes `text` apart.
pub fn parts(text: &str) -> Result<Parts<'_>, String> {
    let (mut rest, caller) = match text.rsplit_once(" <- ") {
        Some((rest, caller)) => (rest.trim_end(), Some(caller.trim())),
        None if text.ends_with(" <-") => return Err("no caller behind `<-`".into()),
        None => (text, None),
    };
    let (mut count, mut times) = (None, None);
    while let Some((before, last)) = rest.rsplit_once(' ') {
        if let (None, Some(found)) = (times, bounds(last)?) {
            times = Some(found);
        } else if let (None, Some(found)) = (count, number(last)?) {
            count = Some(found);
        } else {
            break;
        }
        rest = before.trim_end();
    }
    if rest.is_empty() || caller == Some("") {
        return Err("no name".into());
    }
    Ok(Parts {
        name: rest,
        count: count.unwrap_or(Count::ONE),
        times: times.unwrap_or(Times::ANY),
        caller,
    })
}

/// Where the values begin that stand behind a call's name, if there are any: `fib {n = 5} = 8`.
fn values_at(name: &str) -> Option<usize> {
    // `f<int, {lambda()#1}>`; an argument may be named `lambda`.
    let is_name = |rest: &str| rest.starts_with("lambda(") || rest.starts_with("unnamed type#");
    let mut braces = name.match_indices(" {");
    let given = braces.find(|(at, brace)| !is_name(&name[at + brace.len()..]));
    // No function's name has a lone sign: it is `operator=`.
    let back = name.match_indices(" = ").next();
    [given, back].into_iter().flatten().map(|(at, _)| at).min()
}

/// Whether a call's name has its values behind it.
pub fn has_values(name: &str) -> bool {
    values_at(name).is_some()
}

/// A call's name without its values.
pub fn without_values(name: &str) -> &str {
    &name[..values_at(name).unwrap_or(name.len())]
}

/// What is wrong with a call's name that looks like a count, a time or a caller written amiss; no
/// function's name ends so.
pub fn slip(name: &str) -> Option<String> {
    if has_values(name) {
        return None;
    }
    if matches!(name, ".." | "...." | "…") {
        return Some("for any calls, write `...`".into());
    }
    // `operator< <-1>` is a template of a negative number.
    let glued = |(_, caller): (&str, &str)| !caller.starts_with(|c: char| c.is_ascii_digit());
    if name.split_once(" <-").is_some_and(glued) {
        return Some("a caller stands behind `<- `, with a space on each side".into());
    }
    let (before, last) = name.rsplit_once(' ')?;
    // `operator x`: the conversion to a class of that name.
    if before.ends_with("operator") {
        return None;
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let count = |number: &str| Some(format!("`{last}` is no count; write `x{number}`"));
    if matches!(last, "x" | "×" | "X") {
        return Some(format!(
            "no number behind `{last}`; counts are x3, x2..5, x2.., x..5 and x*"
        ));
    }
    if digits(last) {
        return count(last);
    }
    for mark in ["x", "×", "X", "*"] {
        let number = last.strip_prefix(mark).or_else(|| last.strip_suffix(mark));
        if let Some(number) = number.filter(|number| digits(number)) {
            return count(number);
        }
    }
    let inside = last.strip_prefix('[').unwrap_or(last);
    let inside = inside.strip_suffix(']').unwrap_or(inside);
    let (low, high) = inside.split_once("..").unwrap_or((inside, inside));
    let time = [low, high].iter().any(|bound| duration(bound).is_some());
    time.then(|| {
        format!("`{last}` is no range of times; such are [..10ms], [50us..], [1.5s..2s] and [*]")
    })
}

/// The line without its comment: a `#` at the beginning or after a space. (`{lambda()#1}` has
/// none.)
pub fn without_comment(line: &str) -> &str {
    let begins = |(at, _): &(usize, &str)| {
        line[..*at]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace)
    };
    line.match_indices('#')
        .find(begins)
        .map_or(line, |(at, _)| &line[..at])
        .trim_end()
}

/// `x3`, `×3`, `x2..5`, `x2..`, `x..5`, `x*`; `None` for anything that does not look like one.
fn number(word: &str) -> Result<Option<Count>, String> {
    let Some(count) = word.strip_prefix(['x', '×']) else {
        return Ok(None);
    };
    let looks = !count.is_empty()
        && (count == "*" || count.chars().all(|c| c.is_ascii_digit() || c == '.'));
    if !looks {
        return Ok(None);
    }
    let wrong = || format!("{word} is no count; counts are x3, x2..5, x2.., x..5 and x*");
    let bound = |text: &str, missing| {
        if text.is_empty() {
            Ok(missing)
        } else {
            text.parse().map_err(|_| wrong())
        }
    };
    let (low, high) = match count.split_once("..") {
        _ if count == "*" => (0, u64::MAX),
        Some((low, high)) => (bound(low, 0)?, bound(high, u64::MAX)?),
        None => (
            count.parse().map_err(|_| wrong())?,
            count.parse().map_err(|_| wrong())?,
        ),
    };
    if low > high {
        Err(wrong())
    } else {
        Ok(Some(Count { low, high }))
    }
}

/// `[*]`, `[..10ms]`, `[50ms..]`, `[1ms..2ms]`; `None` for anything that does not look like one,
/// such as `[resume]`.
fn bounds(word: &str) -> Result<Option<Times>, String> {
    let Some(inside) = word
        .strip_prefix('[')
        .and_then(|word| word.strip_suffix(']'))
    else {
        return Ok(None);
    };
    if inside == "*" {
        return Ok(Some(Times::ANY));
    }
    let Some((low, high)) = inside.split_once("..") else {
        return Ok(None);
    };
    let wrong =
        || format!("{word} is no range of times; such are [..10ms], [50us..], [1.5s..2s] and [*]");
    let bound = |text: &str, missing| {
        if text.is_empty() {
            Ok(missing)
        } else {
            duration(text).ok_or_else(wrong)
        }
    };
    let times = Times {
        low: bound(low, 0)?,
        high: bound(high, u64::MAX)?,
    };
    if times.low > times.high {
        Err(wrong())
    } else {
        Ok(Some(times))
    }
}

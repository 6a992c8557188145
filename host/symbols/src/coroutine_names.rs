//! The functions that a compiler makes of a C++20 coroutine, by their symbols.
//!
//! GCC: beside the *ramp*, which the program calls and which bears the coroutine's own name,
//! `<ramp>P<frame>.actor` resumes and `<ramp>P<frame>.destroy` destroys, where `<frame>` ends in
//! `<length><ramp's mangled name>.Frame`. Clang: `<ramp's mangled name>.resume`, `.destroy` and
//! `.cleanup`. The optimiser may add suffixes (`.cold`, `.constprop.0`).

/// What a function does to its coroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoroutinePart {
    /// Runs it up to its next suspension or its end: GCC's `.actor`, Clang's `.resume`.
    Resume,
    /// Destroys it.
    Destroy,
    /// Clang: destroys one whose memory is not its own.
    Cleanup,
}

impl CoroutinePart {
    /// The label that stands behind the coroutine's readable name: `[resume]`.
    pub fn label(self) -> &'static str {
        match self {
            CoroutinePart::Resume => "[resume]",
            CoroutinePart::Destroy => "[destroy]",
            CoroutinePart::Cleanup => "[cleanup]",
        }
    }

    fn of_suffix(suffix: &str) -> Option<Self> {
        match suffix {
            "actor" | "resume" => Some(CoroutinePart::Resume),
            "destroy" => Some(CoroutinePart::Destroy),
            "cleanup" => Some(CoroutinePart::Cleanup),
            _ => None,
        }
    }
}

/// The linker's name of the coroutine that this function is a part of, which part, and the
/// optimiser's suffixes; `None` for other functions, ramps among them.
///
/// ```
/// use heddle_symbols::{CoroutinePart, coroutine_part};
/// let gcc = coroutine_part("_Z4leafPZ4leafiE14_Z4leafi.Frame.actor.cold");
/// assert_eq!(gcc, Some(("_Z4leafi", CoroutinePart::Resume, ".cold")));
/// let clang = coroutine_part("_Z4leafi.destroy");
/// assert_eq!(clang, Some(("_Z4leafi", CoroutinePart::Destroy, "")));
/// assert_eq!(coroutine_part("_Z4leafi.cold"), None);
/// ```
pub fn coroutine_part(symbol: &str) -> Option<(&str, CoroutinePart, &str)> {
    const FRAME: &str = ".Frame";
    let (name, suffixes) = match symbol.find(".Frame.") {
        Some(at) => (&symbol[..at], &symbol[at + FRAME.len()..]),
        None => symbol.split_at(symbol.find('.').filter(|&at| at > 0)?),
    };
    let suffixes = suffixes.strip_prefix('.')?;
    let end = suffixes.find('.').unwrap_or(suffixes.len());
    let part = CoroutinePart::of_suffix(&suffixes[..end])?;
    let ramp = if name.len() + 1 + suffixes.len() == symbol.len() {
        name
    } else {
        ramp_in(name, FRAME.len()).unwrap_or(name)
    };
    Some((ramp, part, &suffixes[end..]))
}

/// The mangled name at the end of `name` that the number before it says to be as long as it and
/// `more` bytes are.
fn ramp_in(name: &str, more: usize) -> Option<&str> {
    name.match_indices("_Z").find_map(|(at, _)| {
        let (before, ramp) = name.split_at(at);
        let digits = before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        // The digits of what is before may run into it, as in `…i29_Z…`; the length's are the last
        // ones.
        let length = (ramp.len() + more).to_string();
        (before[digits..].ends_with(&length)).then_some(ramp)
    })
}

//! Recipes: where the library finds a coroutine's frame (docs/trace-format.md, Plans).

/// Where a coroutine's frame is when the hook of the function that resumes or destroys it is
/// called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FramePlace {
    /// In this register.
    Register(FrameRegister),
    /// In memory, at rbp − 8 · (k + 1); k is below 64.
    BelowRbp(u8),
    /// In memory, 8 · k bytes above the stack pointer as it was when the hook was called; k is
    /// below 127.
    AboveSp(u8),
    /// It is not known whether this is a coroutine's function at all: the library looks.
    Anywhere,
}

/// The registers that the hooks of `-finstrument-functions` are called with as they were; by
/// `-mfentry`, rdi too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "they are registers of x86-64")]
pub enum FrameRegister {
    Rbx = 1,
    Rbp,
    R12,
    R13,
    R14,
    R15,
    Rdi,
}

impl FramePlace {
    /// At so many bytes from rbp, if the library can be told so.
    pub fn from_rbp(offset: i64) -> Option<Self> {
        let below = offset.checked_neg().filter(|below| below % 8 == 0)? / 8;
        let words = u8::try_from(below.checked_sub(1)?).ok()?;
        (words < 64).then_some(FramePlace::BelowRbp(words))
    }

    /// At so many bytes from the stack pointer, if the library can be told so.
    pub fn from_sp(offset: i64) -> Option<Self> {
        let words = u8::try_from(offset / 8).ok()?;
        (offset % 8 == 0 && words < 127).then_some(FramePlace::AboveSp(words))
    }

    fn number(self) -> u32 {
        match self {
            FramePlace::Register(register) => register as u32,
            FramePlace::BelowRbp(words) => 64 + u32::from(words & 63),
            FramePlace::AboveSp(words) => 128 + u32::from(words & 127),
            FramePlace::Anywhere => 255,
        }
    }
}

/// Tells the library where code that resumes or destroys a coroutine has the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// Where the frame is, if that is known.
    pub place: Option<FramePlace>,
    /// The offset in bytes of `_Coro_resume_index` in it, if that is known.
    pub resume_index: Option<u32>,
}

impl Recipe {
    /// The number that stands for it in the plan. An offset that does not fit is left out.
    pub fn bits(self) -> u32 {
        let place = self.place.map_or(0, FramePlace::number);
        let index = self.resume_index.filter(|offset| offset % 2 == 0);
        let index = index.and_then(|offset| u16::try_from(offset / 2).ok());
        place << 8 | u32::from(index.unwrap_or(0)) << 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_library_can_be_told_is_numbered_as_documented() {
        for (place, expected) in [
            (Some(FramePlace::Register(FrameRegister::Rbx)), 1),
            (Some(FramePlace::Register(FrameRegister::Rdi)), 7),
            (FramePlace::from_rbp(-8), 64),
            (FramePlace::from_rbp(-40), 68),
            (FramePlace::from_rbp(-512), 127),
            (FramePlace::from_sp(0), 128),
            (FramePlace::from_sp(1008), 254),
            (Some(FramePlace::Anywhere), 255),
        ] {
            let recipe = Recipe {
                place,
                resume_index: Some(44),
            };
            assert_eq!(recipe.bits(), expected << 8 | 22 << 16, "{place:?}");
        }
        for offset in [0, 8, -4, -520, i64::MIN] {
            assert_eq!(FramePlace::from_rbp(offset), None, "{offset}");
        }
        for offset in [-8, 4, 1016, i64::MAX] {
            assert_eq!(FramePlace::from_sp(offset), None, "{offset}");
        }
        for offset in [3, 1 << 17] {
            let recipe = Recipe {
                place: None,
                resume_index: Some(offset),
            };
            assert_eq!(recipe.bits(), 0);
        }
    }
}

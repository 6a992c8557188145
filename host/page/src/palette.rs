//! A model's colour and shape: hue says the family, shape the variant, the same on every page for
//! the models that we know.

use heddle_results::family;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Colours for a light and a dark page. The first is for references. All are readable as text
/// (contrast ≥ 4.5 on their ground); neighbours differ in lightness as well as in hue, and what
/// colours leave unclear for colour-blind eyes, shapes and labels settle.
const COLOURS: [(&str, &str); 14] = [
    ("#5f6772", "#a3abb5"), // grey
    ("#0b62b8", "#63b1f7"), // blue
    ("#00795a", "#35cda0"), // green
    ("#b45309", "#f6ad4a"), // orange
    ("#c2331b", "#ff8a72"), // vermilion
    ("#a1358b", "#eb98d9"), // purple
    ("#0a7791", "#6fdcf0"), // cyan
    ("#4a3aab", "#b0a6ff"), // indigo
    ("#7d1f4a", "#f083ad"), // wine
    ("#656b00", "#cfd257"), // olive
    ("#6b4423", "#d9ab85"), // brown
    ("#2e6b2e", "#8fd18f"), // leaf
    ("#8a4f7d", "#d3a7cb"), // mauve
    ("#3d5a73", "#9fbcd6"), // slate
];

/// Page grounds the contrast is measured against; the style sheet uses the same.
const GROUNDS: (&str, &str) = ("#ffffff", "#14181d");

/// Outlines round (0, 0), about 10 wide: circle, square, triangle, diamond, triangle down, plus,
/// cross, hexagon.
pub(crate) const SHAPES: [&str; 8] = [
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "M-4.4-4.4h8.8v8.8h-8.8z",
    "M0-5.6L5.4 4.2H-5.4z",
    "M0-6L5.4 0L0 6L-5.4 0z",
    "M0 5.6L5.4-4.2H-5.4z",
    "M-1.8-5.2h3.6v3.4h3.4v3.6h-3.4v3.4h-3.6v-3.4h-3.4v-3.6h3.4z",
    "M0-2.5L2.8-5.3L5.3-2.8L2.5 0L5.3 2.8L2.8 5.3L0 2.5L-2.8 5.3L-5.3 2.8L-2.5 0L-5.3-2.8L-2.8-5.3z",
    "M-2.8-4.9h5.6L5.6 0L2.8 4.9h-5.6L-5.6 0z",
];

/// The known families with their colours, and the shape of the member without a variant.
const FAMILIES: [(&str, usize, usize); 13] = [
    ("serial", 0, 0),
    ("thread", 1, 1),
    ("stackless", 2, 0),
    ("concurrent", 3, 1),
    ("process", 4, 4),
    ("fiber", 5, 3),
    ("goroutine", 6, 7),
    ("hybrid", 7, 7),
    ("parallel", 8, 2),
    ("cooperative", 9, 3),
    ("event-loop", 10, 1),
    ("boost-fiber", 12, 6),
    ("tokio", 13, 3),
];

/// The shapes of variants, whatever their family.
const VARIANTS: [(&str, usize); 18] = [
    ("asm", 3),
    ("stackless", 0),
    ("ucontext", 2),
    ("setjmp", 6),
    ("pthread", 5),
    ("boost", 7),
    ("pth", 4),
    ("duff", 2),
    ("syscall", 1),
    ("pipe", 4),
    ("futex", 5),
    ("single", 1),
    ("pool", 5),
    ("net-http", 2),
    ("traced", 6),
    ("counted", 5),
    ("groups", 2),
    ("asm-watched", 4),
];

/// How a model looks: numbers of a colour and of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Look {
    pub(crate) colour: usize,
    pub(crate) shape: usize,
}

/// The looks of all models of a page.
#[derive(Debug, Default)]
pub(crate) struct Palette {
    looks: BTreeMap<String, Look>,
    /// Colours of families.
    families: BTreeMap<String, usize>,
}

impl Palette {
    /// Hue by family, shape by variant. Families and variants that we do not know get those that
    /// the hash of their names says, or the next that are free on the page.
    pub(crate) fn assign<'a>(models: impl IntoIterator<Item = &'a str>) -> Self {
        let models: BTreeSet<&str> = models.into_iter().collect();
        let families: BTreeSet<&str> = models.iter().map(|model| family(model)).collect();
        let mut colours: BTreeMap<&str, usize> = BTreeMap::new();
        for name in &families {
            if let Some((_, colour, _)) = FAMILIES.iter().find(|known| known.0 == *name) {
                colours.insert(name, *colour);
            }
        }
        for name in &families {
            let uses = |colour: usize| colours.values().filter(|other| **other == colour).count();
            let first = hash(name) as usize;
            let all = (0..COLOURS.len() - 1).map(|step| 1 + (first + step) % (COLOURS.len() - 1));
            let free = all.min_by_key(|colour| uses(*colour)).unwrap_or_default();
            colours.entry(name).or_insert(free);
        }
        let mut looks: BTreeMap<String, Look> = BTreeMap::new();
        let (known, unknown): (Vec<&str>, Vec<&str>) = models
            .iter()
            .partition(|model| known_shape(model).is_some());
        for model in known.into_iter().chain(unknown) {
            let colour = colours.get(family(model)).copied().unwrap_or_default();
            let taken = |shape: usize| looks.values().any(|look| *look == Look { colour, shape });
            let first = known_shape(model).unwrap_or(hash(model) as usize % SHAPES.len());
            let mut all = (0..SHAPES.len()).map(|step| (first + step) % SHAPES.len());
            let shape = all.find(|shape| !taken(*shape)).unwrap_or(first);
            looks.insert(model.to_owned(), Look { colour, shape });
        }
        let families = colours
            .into_iter()
            .map(|(name, colour)| (name.to_owned(), colour));
        Self {
            looks,
            families: families.collect(),
        }
    }

    /// What stands for a whole family: its colour, and the shape of the member without a variant.
    pub(crate) fn look_of_family(&self, family: &str) -> Look {
        Look {
            colour: self.families.get(family).copied().unwrap_or_default(),
            shape: known_shape(family).unwrap_or_default(),
        }
    }

    /// The families of the page, in the order of their names.
    pub(crate) fn families(&self) -> impl Iterator<Item = &str> {
        self.families.keys().map(String::as_str)
    }

    /// A model's look; the reference's for one that the report does not list anywhere.
    pub(crate) fn look(&self, model: &str) -> Look {
        self.looks.get(model).copied().unwrap_or(Look {
            colour: 0,
            shape: 0,
        })
    }
}

/// The shape that a known variant, or a family's member without one, has.
fn known_shape(model: &str) -> Option<usize> {
    match model.split_once('/') {
        Some((_, variant)) => VARIANTS
            .iter()
            .find(|known| known.0 == variant)
            .map(|it| it.1),
        None => FAMILIES
            .iter()
            .find(|known| known.0 == model)
            .map(|it| it.2),
    }
}

/// FNV-1a, because the standard library's hash may change from release to release.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// The style sheet's part that defines the colours, for light, dark and print.
pub(crate) fn css() -> String {
    let variables = |colour: fn(&(&'static str, &'static str)) -> &'static str| -> String {
        COLOURS
            .iter()
            .enumerate()
            .fold(String::new(), |mut text, (number, pair)| {
                let _ = write!(text, "--c{number}:{};", colour(pair));
                text
            })
    };
    let classes: String = (0..COLOURS.len())
        .map(|number| format!(".c{number}{{color:var(--c{number})}}"))
        .collect();
    format!(
        ":root{{--bg:{};{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{--bg:{};{}}}}}\n{classes}",
        GROUNDS.0,
        variables(|pair| pair.0),
        GROUNDS.1,
        variables(|pair| pair.1)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, WCAG 2.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if part <= 0.04045 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_colour_is_readable_on_its_ground() {
        for (light, dark) in COLOURS {
            assert!(
                contrast(light, GROUNDS.0) >= 4.5,
                "{light} on white: {}",
                contrast(light, GROUNDS.0)
            );
            assert!(
                contrast(dark, GROUNDS.1) >= 4.5,
                "{dark} on dark: {}",
                contrast(dark, GROUNDS.1)
            );
        }
    }

    #[test]
    fn known_models_look_the_same_in_any_company() {
        let alone = Palette::assign(["thread"]);
        let together = Palette::assign(["mine", "stackless", "thread", "aardvark"]);
        assert_eq!(alone.look("thread"), together.look("thread"));
        let colours =
            ["mine", "stackless", "thread", "aardvark"].map(|it| together.look(it).colour);
        assert_eq!(BTreeSet::from(colours).len(), 4, "{colours:?}");
    }

    #[test]
    fn hue_is_the_family_and_shape_the_variant() {
        let palette =
            Palette::assign(["fiber/asm", "fiber/own", "cooperative/asm", "parallel/asm"]);
        let look = |model| palette.look(model);
        assert_eq!(look("fiber/asm").colour, look("fiber/own").colour);
        assert_ne!(look("fiber/asm").shape, look("fiber/own").shape);
        assert_eq!(look("cooperative/asm").shape, look("parallel/asm").shape);
        assert_ne!(look("cooperative/asm").colour, look("parallel/asm").colour);
    }

    #[test]
    fn no_two_models_look_the_same() {
        let families = FAMILIES.map(|known| known.0.to_owned());
        let members = families.iter().flat_map(|family| {
            let variants = VARIANTS.iter().take(SHAPES.len() - 1);
            variants.map(move |(variant, _)| format!("{family}/{variant}"))
        });
        let names: Vec<String> = families.iter().cloned().chain(members).collect();
        let palette = Palette::assign(names.iter().map(String::as_str));
        for (at, a) in names.iter().enumerate() {
            for b in &names[at + 1..] {
                assert_ne!(palette.look(a), palette.look(b), "{a}, {b}");
            }
        }
    }
}

//! A model's colour and shape: the same throughout a page, and from page to page for the models
//! that we know.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Colours for a light and a dark page. The first is for references. All are readable as text
/// (contrast ≥ 4.5 on their ground); neighbours differ in lightness as well as in hue, and what
/// colours leave unclear for colour-blind eyes, shapes and labels settle.
const COLOURS: [(&str, &str); 11] = [
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

/// The known models, with colour and shape. No pair occurs twice.
const KNOWN: [(&str, usize, usize); 25] = [
    ("serial", 0, 0),
    ("serial/syscall", 0, 1),
    ("process/pipe", 4, 4),
    ("process/futex", 4, 5),
    ("thread", 1, 1),
    ("fiber/asm", 5, 3),
    ("fiber/ucontext", 3, 2),
    ("fiber/setjmp", 9, 6),
    ("fiber/pthread", 8, 5),
    ("fiber/boost", 10, 7),
    ("fiber/pth", 7, 4),
    ("stackless", 2, 0),
    ("stackless/duff", 9, 2),
    ("hybrid", 7, 7),
    ("concurrent", 3, 1),
    ("cooperative/asm", 5, 0),
    ("cooperative/stackless", 2, 3),
    ("parallel/asm", 8, 2),
    ("parallel/stackless", 9, 3),
    ("event-loop/single", 10, 1),
    ("event-loop/pool", 10, 5),
    ("goroutine", 6, 7),
    ("goroutine/net-http", 6, 2),
    ("boost-fiber", 7, 6),
    ("tokio", 4, 3),
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
}

impl Palette {
    /// Known models get their own looks; the others, by name, first the colours that the page does
    /// not use yet, then what pairs remain. Only a page with more than eighty models repeats a
    /// pair.
    pub(crate) fn assign<'a>(models: impl IntoIterator<Item = &'a str>) -> Self {
        let mut looks = BTreeMap::new();
        let mut unknown = std::collections::BTreeSet::new();
        for model in models {
            if let Some(&(name, colour, shape)) = KNOWN.iter().find(|(name, ..)| *name == model) {
                looks.insert(name.to_string(), Look { colour, shape });
            } else {
                unknown.insert(model);
            }
        }
        for (number, model) in unknown.into_iter().enumerate() {
            let uses = |colour: usize| {
                looks
                    .values()
                    .filter(|look: &&Look| look.colour == colour)
                    .count()
            };
            let taken = |look: Look| looks.values().any(|other| *other == look);
            let pairs = (1..COLOURS.len())
                .flat_map(|colour| (0..SHAPES.len()).map(move |shape| Look { colour, shape }));
            // A known model's look stays its own even where that model is absent: readers know it
            // from other pages.
            let known = |look: &Look| {
                KNOWN
                    .iter()
                    .any(|&(_, colour, shape)| (colour, shape) == (look.colour, look.shape))
            };
            let look = pairs
                .filter(|look| !taken(*look))
                .min_by_key(|look| (known(look), uses(look.colour)));
            let look = look.unwrap_or(Look {
                colour: 1 + number % (COLOURS.len() - 1),
                shape: number % SHAPES.len(),
            });
            looks.insert(model.to_string(), look);
        }
        Self { looks }
    }

    /// A model's look; the reference's for one that the report does not list anywhere.
    pub(crate) fn look(&self, model: &str) -> Look {
        self.looks.get(model).copied().unwrap_or(Look {
            colour: 0,
            shape: 0,
        })
    }
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
        let mine = together.look("mine");
        assert!(
            KNOWN
                .iter()
                .all(|&(_, colour, shape)| (colour, shape) != (mine.colour, mine.shape))
        );
    }

    #[test]
    fn no_two_models_look_the_same() {
        let names: Vec<String> = KNOWN
            .iter()
            .map(|known| known.0.to_string())
            .chain((0..40).map(|number| format!("mine/{number}")))
            .collect();
        let palette = Palette::assign(names.iter().map(String::as_str));
        for (at, a) in names.iter().enumerate() {
            for b in &names[at + 1..] {
                assert_ne!(palette.look(a), palette.look(b), "{a}, {b}");
            }
        }
    }

    #[test]
    fn an_unknown_model_takes_a_colour_that_nobody_has() {
        let palette = Palette::assign(["thread", "stackless", "mine"]);
        let (mine, thread, stackless) = (
            palette.look("mine"),
            palette.look("thread"),
            palette.look("stackless"),
        );
        assert!(
            mine.colour != thread.colour && mine.colour != stackless.colour && mine.colour != 0
        );
    }
}

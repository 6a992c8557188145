use crate::{Estimate, Values};
use serde::{Deserialize, Serialize};

/// Whose a claim is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A statement of a source.
    #[default]
    Claim,
    /// What we ask beyond the sources.
    Question,
    /// What we want to reach.
    Goal,
}

impl Kind {
    /// All kinds, in the order in which a file's are read and printed.
    pub const ALL: [Self; 3] = [Self::Claim, Self::Question, Self::Goal];

    /// What one is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Question => "question",
            Self::Goal => "goal",
        }
    }
}

/// A claim's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The interval lies wholly inside the bound.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// The interval lies wholly outside the bound.
    #[serde(rename = "not reproduced")]
    NotReproduced,
    /// It straddles the bound.
    #[serde(rename = "inconclusive")]
    Inconclusive,
    /// It could not be judged.
    #[serde(rename = "skipped")]
    Skipped,
}

impl Verdict {
    /// All verdicts, in the order in which they are counted.
    pub const ALL: [Self; 4] = [
        Self::Reproduced,
        Self::NotReproduced,
        Self::Inconclusive,
        Self::Skipped,
    ];

    /// For people: a claim of a source is reproduced, a question answered, a goal reached.
    pub fn word(self, kind: Kind) -> &'static str {
        match (self, kind) {
            (Self::Reproduced, Kind::Claim) => "reproduced",
            (Self::NotReproduced, Kind::Claim) => "not reproduced",
            (Self::Reproduced, Kind::Question) => "yes",
            (Self::NotReproduced, Kind::Question) => "no",
            (Self::Inconclusive, Kind::Question) => "not settled",
            (Self::Reproduced, Kind::Goal) => "reached",
            (Self::NotReproduced, Kind::Goal) => "not reached",
            (Self::Inconclusive, Kind::Claim | Kind::Goal) => "inconclusive",
            (Self::Skipped, _) => "skipped",
        }
    }

    /// The verdict on a whole whose parts have these: one part that was not reproduced decides,
    /// then one that is open. Parts that were skipped count only where all were.
    pub fn of_all(parts: impl IntoIterator<Item = Self>) -> Self {
        let rank = |verdict: &Self| match verdict {
            Self::NotReproduced => 0,
            Self::Inconclusive => 1,
            Self::Reproduced => 2,
            Self::Skipped => 3,
        };
        parts.into_iter().min_by_key(rank).unwrap_or(Self::Skipped)
    }
}

/// The ends of a bound that are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Lower end.
    pub min: Option<f64>,
    /// Upper end.
    pub max: Option<f64>,
}

/// A coefficient of what was fitted to a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coefficient {
    /// What the source calls it, or the model and its part.
    pub name: String,
    /// For people: `7.44 ns (95 % 7.31–7.58 ns)`.
    pub text: String,
    /// With its interval.
    pub estimate: Estimate,
}

/// A claim of a source, a question or a goal, with what was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClaimReport {
    /// Id.
    pub id: String,
    /// Whose it is.
    pub kind: Kind,
    /// The source's words; the question; of a goal, ours.
    pub words: String,
    /// An excerpt of the words for where there is little room; empty: the words themselves.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub short: String,
    /// The source's document, which together with the words tells its statements apart. Empty: the
    /// claim is not a source's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub document: String,
    /// Which part of the statement it is, where a file has several: `stackless`; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// How we read the source's words: which models, which bound, and why. Empty for what is ours.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reading: String,
    /// The source's figure, if it prints one.
    pub figure: Option<String>,
    /// What was computed: `process/pipe ÷ goroutine at opt=O2`.
    pub computed: String,
    /// The bound, for people: `46.7 … 105`.
    pub bound: String,
    /// The bound, for computing. Of a table, that of the cell that `estimate` belongs to.
    #[serde(default)]
    pub within: Limits,
    /// Ours, for people: `31.2× (95 % 29.8 … 33.0)`; empty if skipped.
    pub ours: String,
    /// Ours, where it is one number. Of a table, that of the cell that decides or comes nearest to.
    pub estimate: Option<Estimate>,
    /// The cells whose samples decided it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Compared>,
    /// What was fitted on the way, in the metric's unit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coefficients: Vec<Coefficient>,
    /// The cells of a printed table in their order, measured or not; empty: the claim is no table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellReport>,
    /// The verdict.
    pub verdict: Verdict,
    /// Samples a cell that would settle an inconclusive one; none: no number would, or it is
    /// settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<u64>,
    /// Whether it is inconclusive and its samples go with slow phases of the machine: more of them
    /// need not settle it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsteady: bool,
    /// Why skipped, or how many samples would settle it, or which point decided.
    pub note: String,
    /// The counters that say why, for people.
    pub why: String,
}

/// A cell of the experiment by its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Model.
    pub model: String,
    /// All swept parameters.
    pub point: Values,
}

/// A cell of a table that a source prints, beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellReport {
    /// Where in the sweep, for people: `work=100`. Empty where its row gives models alone.
    pub place: String,
    /// The swept parameters of its row, in which the cells of a table differ.
    pub at: Values,
    /// What was computed: `cooperative/asm ÷ concurrent`.
    pub computed: String,
    /// What the source prints, without a percent sign.
    pub figure: String,
    /// Whether the figure, and `ours`, are in percent; else they are ratios.
    pub percent: bool,
    /// The bound, for people and in the figure's unit: `10.0–30.0`.
    pub bound: String,
    /// The bound, as a ratio.
    pub within: Limits,
    /// Ours, for people and in the figure's unit: `31.2 (95 % 29.8–33.0)`; empty if not measured.
    pub ours: String,
    /// Ours, as a ratio.
    pub estimate: Option<Estimate>,
    /// Whether the interval is inside the bound; skipped: why not is in `note`.
    pub verdict: Verdict,
    /// Why it was not measured or not judged; `needs --full …` where only the full sweep has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

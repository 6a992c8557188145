//! What a claim needs so that it is a statement of a source, and can both fail and succeed.

use super::Checker;
use crate::error::Result;
use crate::experiment::claim::{Claim, Form, Says};
use crate::experiment::printed::Printed;
use crate::experiment::read::Located;
use heddle_results::{Kind, same_words};

/// Longest reading of a statement, and longest question, in characters: a line.
const LONGEST_LINE: usize = 160;

impl Checker<'_> {
    /// All rules.
    pub(super) fn statements(&self) -> Result<()> {
        let claims = &self.experiment.claims;
        for (index, located) in claims.iter().enumerate() {
            let found = match located.claim.kind {
                Kind::Claim => self
                    .sourced(located)
                    .or_else(|| parts(located, &claims[..index])),
                Kind::Question => line("asks", &located.claim.words),
                Kind::Goal => None,
            };
            let found = found.or_else(|| meaning(&located.claim));
            if let Some((needle, message)) = found {
                let message = format!("claim {}: {message}", located.claim.id);
                return self.wrong_among(&located.places, needle, message);
            }
        }
        Ok(())
    }

    /// A claim has a source, and says how its words were read.
    fn sourced(&self, located: &Located) -> Option<Mistake> {
        let source = self.experiment.source.as_ref();
        if source.is_none_or(|source| source.document.trim().is_empty()) {
            let message = "a [[claim]] is a statement of a source, and [source] has no `document`: \
                           name it there, or ask a [[question]]";
            return Some(("", message.into()));
        }
        let claim = &located.claim;
        if located.row && claim.part.is_empty() {
            let message = "a [[claim]] with `columns` and `cells` is a table (form = \"table\"), \
                           or has a column `part`; several questions are a [[question]]";
            return Some(("columns", message.into()));
        }
        line("reading", &claim.reading)
    }
}

/// The word at whose place the mistake is, and what is wrong.
type Mistake = (&'static str, String);

/// A text that must be there, on one line.
fn line(name: &'static str, text: &str) -> Option<Mistake> {
    let length = text.chars().count();
    let message = if text.trim().is_empty() {
        match name {
            "reading" => {
                "it needs a `reading`: which models and which bound the words mean, and why"
            }
            _ => "it needs `asks`, a question",
        }
        .to_owned()
    } else if text.chars().any(char::is_control) {
        format!("`{name}` must be one line")
    } else if length > LONGEST_LINE {
        format!("`{name}` has {length} characters: it may have {LONGEST_LINE}")
    } else {
        return None;
    };
    Some((name, message))
}

/// A statement is one claim of a file, or several parts with a name each.
fn parts(located: &Located, before: &[Located]) -> Option<Mistake> {
    let claim = &located.claim;
    let same = |other: &&Claim| other.kind == Kind::Claim && same_words(&other.words, &claim.words);
    let others = before.iter().map(|other| &other.claim);
    let mut others = others.filter(same).peekable();
    let first = others.peek()?;
    if claim.part.is_empty() || first.part.is_empty() {
        let message = format!(
            "it has the words of {}: what we ask beyond them is a [[question]], and parts of one \
             statement have a `part` each",
            first.id
        );
        return Some(("", message));
    }
    let other = others.find(|other| other.part == claim.part)?;
    let message = format!(
        "it is the part `{}` of its statement, as {} is",
        claim.part, other.id
    );
    Some(("part", message))
}

/// A bound that fits what the words claim: neither met by everything nor by nothing.
fn meaning(claim: &Claim) -> Option<Mistake> {
    let Claim {
        form, bound, says, ..
    } = claim;
    let wrong = |needle, message: &str| Some((needle, message.to_owned()));
    let own = |pair: &[&str]| matches!(pair, [above, below, ..] if above == below);
    let pairs = match form {
        Form::Table(cells) => cells.iter().map(|cell| cell.claim.form.models()).collect(),
        form => vec![form.models()],
    };
    if pairs.iter().any(|pair| own(pair)) {
        let message = "numerator and denominator are the same model: set it against itself by \
                       `model`, `at` and `against`";
        return wrong("denominator", message);
    }
    if let Form::Table(cells) = form {
        let outside = |claim: &Claim| {
            let printed = claim.figure.as_deref().map(Printed::read);
            printed.is_none_or(|printed| !printed.within(&claim.bound, claim.percent))
        };
        if let Some(cell) = cells.iter().find(|cell| outside(&cell.claim)) {
            let figure = cell.claim.figure.as_deref().unwrap_or_default();
            let message = format!(
                "the bound {} of a cell does not hold its figure {figure}; one in percent has a %",
                cell.claim.bound
            );
            return Some(("bound", message));
        }
    }
    let (ratio, neutral) = match form {
        Form::Ratio(_) | Form::Settings(_) => (true, 1.0),
        Form::Slope(_) | Form::RatioSlope(_) => (false, 0.0),
        Form::Account(_) if claim.kind == Kind::Claim && bound.contains(0.0) => {
            let message =
                "an account that explains nothing would reproduce it: its bound needs a min";
            return wrong("bound", message);
        }
        _ if says.is_some() => {
            return wrong("says", "only a ratio or a slope says one of several things");
        }
        _ => return None,
    };
    let Some(says) = says else {
        let needed = claim.kind == Kind::Claim;
        let message = match form {
            Form::Slope(_) => "a slope needs `says`: \"linear\", \"difference\" or \"sameness\"",
            _ => {
                "it needs `says`: \"difference\", \"sameness\", or \"figure\" where one is printed"
            }
        };
        return if needed { wrong("form", message) } else { None };
    };
    match says {
        Says::Linear if !matches!(form, Form::Slope(_)) => {
            wrong("says", "only the slope of one model can be `linear`")
        }
        Says::Linear if !bound.contains(1.0) || bound.contains(0.0) => wrong(
            "bound",
            "it says `linear`, so its bound must hold a slope of 1 and not one of 0",
        ),
        Says::Difference if bound.contains(neutral) => {
            let ends = if ratio {
                "such as max = 0.95 or min = 1.053"
            } else {
                "such as min = 0.1"
            };
            let message = format!(
                "it says `difference`, and its bound {bound} holds {neutral}, which is none: \
                 end it before, {ends}"
            );
            Some(("bound", message))
        }
        Says::Sameness if !bound.contains(neutral) => {
            let message = format!(
                "it says `sameness`, and its bound {bound} does not hold {neutral}, \
                 which is the same"
            );
            Some(("bound", message))
        }
        Says::Figure => {
            let Some(figure) = &claim.figure else {
                let message = "it says `figure`, so it needs the `figure` that the source prints";
                return wrong("says", message);
            };
            let inside = Printed::read(figure).within(bound, claim.percent);
            let message =
                || format!("it says `figure`, and its bound {bound} does not hold {figure}");
            (!inside).then(|| ("bound", message()))
        }
        Says::Linear | Says::Difference | Says::Sameness => None,
    }
}

//! How the commands that are suggested are spelt where they can be typed.

use heddle_lab::select;
use std::path::Path;

/// Set by a front door that builds the command and runs it from a place that is not in `PATH`: what
/// to type instead.
const FRONT_DOOR: &str = "HEDDLE_FRONT_DOOR";
/// The suite that a front door has a verb of its own for.
const BENCH: &str = "speed";

/// The beginning and the end of a command that is suggested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hints {
    /// `heddle compare`, `./dev bench`.
    command: String,
    /// ` -o DIR`, if the user has chosen one.
    place: String,
    /// The words on the command line, if one of them is a folder or file of experiments. An
    /// experiment outside the lab is found by its path, not by its id.
    named: Option<String>,
}

impl Hints {
    /// For a comparison of a suite, if one was asked for, into `output`, if the user has named it.
    pub fn new(suite: Option<&str>, output: Option<&Path>) -> Self {
        Self::of(door().as_deref(), suite, output)
    }

    pub(super) fn of(door: Option<&str>, suite: Option<&str>, output: Option<&Path>) -> Self {
        let command = match (door, suite) {
            (Some(door), Some(BENCH)) => format!("{door} bench"),
            (door, suite) => {
                let suite = suite.map_or_else(String::new, |suite| format!(" --suite {suite}"));
                format!("{} compare{suite}", door.unwrap_or("heddle"))
            }
        };
        let place = output.map_or_else(String::new, |dir| {
            let word = [dir.to_string_lossy().into_owned()];
            format!(" -o {}", heddle_lab::command::quote(&word))
        });
        Self {
            command,
            place,
            named: None,
        }
    }

    /// The same where the user has named these experiments.
    pub fn about(self, words: &[String]) -> Self {
        let outside = |word: &String| select::is_path(word) || Path::new(word).is_dir();
        let named = words.iter().any(outside);
        Self {
            named: named.then(|| heddle_lab::command::quote(words)),
            ..self
        }
    }

    /// How an experiment of the report is named on a command line.
    pub fn experiment<'a>(&'a self, id: &'a str) -> &'a str {
        self.named.as_deref().unwrap_or(id)
    }

    /// A command with these arguments that does not write where this run does.
    pub fn elsewhere(&self, arguments: &str) -> String {
        format!("{} {arguments}", self.command)
    }

    /// The whole command with these arguments.
    pub fn with(&self, arguments: &str) -> String {
        match arguments {
            "" => format!("{}{}", self.command, self.place),
            _ => format!("{} {arguments}{}", self.command, self.place),
        }
    }
}

fn door() -> Option<String> {
    let door = std::env::var(FRONT_DOOR).ok();
    door.filter(|door| !door.is_empty())
}

/// Whether a front door runs the command, which builds what the experiments use.
pub fn is_through_door() -> bool {
    door().is_some()
}

/// The command that builds these experiments and then runs them. `heddle compare` itself builds
/// nothing.
pub fn building(words: &str) -> String {
    building_by(select::front_door().as_deref(), words)
}

fn building_by(door: Option<&str>, words: &str) -> String {
    match door {
        Some(door) => {
            let door = heddle_lab::command::quote(&[door.to_owned()]);
            format!("`{door} compare {words}`")
        }
        None => format!("`./dev compare {words}` in a clone of Heddle"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_spelt_as_the_user_can_type_it() {
        let own = Hints::of(None, None, None);
        assert_eq!(own.with("--resume"), "heddle compare --resume");
        let door = Hints::of(Some("./dev"), None, Some(Path::new("my report")));
        assert_eq!(
            door.with("--resume"),
            "./dev compare --resume -o 'my report'"
        );
        assert_eq!(
            Hints::of(Some("./dev"), Some("speed"), None).with("s1 -n 30"),
            "./dev bench s1 -n 30"
        );
        let outside = own.clone().about(&["./a b/mine".to_owned()]);
        assert_eq!(outside.experiment("mine"), "'./a b/mine'");
        let ours = own.about(&["b1-switch".to_owned()]);
        assert_eq!(ours.experiment("b1-switch"), "b1-switch");
        assert_eq!(
            Hints::of(None, Some("mine"), None).with("x"),
            "heddle compare --suite mine x"
        );
    }

    #[test]
    fn the_command_that_builds_is_the_clone_s_own() {
        let there = building_by(Some("../my clone/dev"), "a1-matrix");
        assert_eq!(there, "`'../my clone/dev' compare a1-matrix`");
        let nowhere = building_by(None, "a1-matrix");
        assert_eq!(nowhere, "`./dev compare a1-matrix` in a clone of Heddle");
    }
}

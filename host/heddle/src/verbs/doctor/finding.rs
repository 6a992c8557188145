//! What was looked at, whether it is well, and what to do.

use serde_json::{Value, json};

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// As it should be.
    Well,
    /// Something will be missing, or slower.
    Lacking,
    /// Nothing can be recorded.
    Wrong,
}

impl State {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            State::Well => "ok",
            State::Lacking => "lacks",
            State::Wrong => "wrong",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub what: &'static str,
    pub state: State,
    pub says: String,
    /// What mends it.
    pub mend: Option<String>,
}

impl Finding {
    /// It is as it should be.
    pub fn well(what: &'static str, says: impl Into<String>) -> Self {
        Finding {
            what,
            state: State::Well,
            says: says.into(),
            mend: None,
        }
    }

    /// Something will be missing.
    pub fn lacking(what: &'static str, says: impl Into<String>, mend: &str) -> Self {
        Finding {
            state: State::Lacking,
            mend: Some(mend.to_owned()),
            ..Finding::well(what, says)
        }
    }

    /// Nothing can be recorded. What mends it is in the sentence, or follows.
    pub fn wrong(what: &'static str, says: impl Into<String>, mend: Option<&str>) -> Self {
        Finding {
            state: State::Wrong,
            mend: mend.map(str::to_owned),
            ..Finding::well(what, says)
        }
    }

    pub fn object(&self) -> Value {
        json!({ "what": self.what, "state": self.state.name(), "says": self.says, "mend": self.mend })
    }
}

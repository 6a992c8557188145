use crate::rows::Row;

/// The command line of a sample.
pub struct Arguments {
    /// The row to be timed.
    pub row: Row,
    /// Number of strands, or of strands in a batch.
    pub strands: u64,
    /// Yields of each, batches, hand-overs, values.
    pub count: u64,
    /// Whether a small problem is run first, unmeasured.
    pub warmup: bool,
}

impl Arguments {
    /// Reads `--NAME=VALUE …`; an error says what is valid.
    pub fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut model, mut row) = (String::new(), Row::Yield);
        let (mut strands, mut count, mut warmup) = (10, 100_000, 1);
        for word in words {
            let named = word
                .strip_prefix("--")
                .and_then(|rest| rest.split_once('='));
            let (name, value) = named.ok_or(format!("`{word}`: expected --NAME=VALUE"))?;
            match name {
                "model" => model = value.to_owned(),
                "row" => row = Row::parse(value)?,
                "strands" => strands = number(name, value, 2, 2_000_000)?,
                "count" => count = number(name, value, 1, 1_000_000_000)?,
                "warmup" => warmup = number(name, value, 0, 1)?,
                _ => {
                    return Err(format!(
                        "unknown parameter --{name}; there are: --model --row --strands --count --warmup"
                    ));
                }
            }
        }
        if model != "tokio" {
            return Err(format!("unknown model `{model}`; there are: tokio"));
        }
        Ok(Self {
            row,
            strands,
            count,
            warmup: warmup != 0,
        })
    }
}

fn number(name: &str, text: &str, least: u64, most: u64) -> Result<u64, String> {
    let value = text
        .parse()
        .ok()
        .filter(|value| (least..=most).contains(value));
    value.ok_or(format!("--{name}={text}: expected {least} … {most}"))
}

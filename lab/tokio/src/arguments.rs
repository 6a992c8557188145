use std::collections::BTreeMap;

/// A parameter, `--NAME=VALUE`: an integer, or one of some words, the first of which is the
/// default.
pub enum Parameter {
    /// Name, default, least, most.
    Integer(&'static str, u64, u64, u64),
    /// Name, choices.
    Word(&'static str, &'static [&'static str]),
}

impl Parameter {
    fn name(&self) -> &'static str {
        match self {
            Self::Integer(name, ..) | Self::Word(name, _) => name,
        }
    }
    fn default(&self) -> String {
        match self {
            Self::Integer(_, value, ..) => value.to_string(),
            Self::Word(_, words) => words.first().copied().unwrap_or_default().to_owned(),
        }
    }
    fn check(&self, value: &str) -> Result<(), String> {
        let (fits, expected) = match self {
            Self::Integer(_, _, least, most) => (
                value
                    .parse()
                    .is_ok_and(|value| (least..=most).contains(&&value)),
                format!("{least} … {most}"),
            ),
            Self::Word(_, words) => (words.contains(&value), words.join("|")),
        };
        let name = self.name();
        let error = format!("--{name}={value}: expected {expected}");
        if fits { Ok(()) } else { Err(error) }
    }
}

/// The command line of a sample.
pub struct Arguments {
    values: BTreeMap<&'static str, String>,
}

impl Arguments {
    /// Reads `--NAME=VALUE …`. An error says what is valid.
    pub fn parse(
        words: impl Iterator<Item = String>,
        declared: &[Parameter],
    ) -> Result<Self, String> {
        let mut model = String::new();
        let mut values: BTreeMap<_, _> = declared
            .iter()
            .map(|parameter| (parameter.name(), parameter.default()))
            .collect();
        for word in words {
            let named = word
                .strip_prefix("--")
                .and_then(|rest| rest.split_once('='));
            let (name, value) = named.ok_or(format!("`{word}`: expected --NAME=VALUE"))?;
            if name == "model" {
                model = value.to_owned();
                continue;
            }
            let known = declared.iter().find(|parameter| parameter.name() == name);
            let parameter = known.ok_or_else(|| {
                let names: Vec<_> = values.keys().map(|name| format!("--{name}")).collect();
                let names = names.join(" ");
                format!("unknown parameter --{name}; there are: --model {names}")
            })?;
            parameter.check(value)?;
            values.insert(parameter.name(), value.to_owned());
        }
        if model == "tokio" {
            Ok(Self { values })
        } else {
            Err(format!("unknown model `{model}`; there are: tokio"))
        }
    }

    /// The value of an integer parameter; 0 for one that was not declared.
    pub fn integer(&self, name: &str) -> u64 {
        let value = self.values.get(name).map(|value| value.parse());
        value.and_then(Result::ok).unwrap_or(0)
    }

    /// All values as a JSON object.
    pub(crate) fn json(&self) -> String {
        let member = |(name, value): (&&str, &String)| match value.parse::<u64>() {
            Ok(number) => format!("\"{name}\": {number}"),
            Err(_) => format!("\"{name}\": \"{value}\""),
        };
        let members: Vec<_> = self.values.iter().map(member).collect();
        format!("{{{}}}", members.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: [Parameter; 2] = [
        Parameter::Integer("count", 7, 1, 9),
        Parameter::Word("style", &["direct", "scheduler"]),
    ];

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split(' ').map(str::to_owned), &DECLARED)
    }

    #[test]
    fn what_is_not_given_has_its_default() {
        let arguments = parse("--model=tokio --style=scheduler").unwrap();
        assert_eq!(arguments.integer("count"), 7);
        assert_eq!(arguments.json(), r#"{"count": 7, "style": "scheduler"}"#);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, message) in [
            ("--model=tokyo", "unknown model `tokyo`"),
            ("--model=tokio --count=0", "--count=0: expected 1 … 9"),
            (
                "--model=tokio --style=x",
                "--style=x: expected direct|scheduler",
            ),
            (
                "--model=tokio --oops=1",
                "unknown parameter --oops; there are: --model --count --style",
            ),
            ("tokio", "`tokio`: expected --NAME=VALUE"),
        ] {
            assert!(
                parse(line).is_err_and(|said| said.contains(message)),
                "{line}"
            );
        }
    }
}

//! What a new folder holds, language by language: the files of lab/starters, with its name in them.

/// Languages that there is a starter for.
#[derive(Clone, Copy, Default, clap::ValueEnum)]
pub enum Language {
    /// C++20, GCC or Clang
    #[default]
    #[value(name = "c++", alias = "cpp")]
    Cpp,
    /// C11
    C,
    /// Go 1.19 or newer
    Go,
    /// Rust
    Rust,
    /// Python 3.9 or newer
    Python,
}

/// A starter: files, and what the experiment and README of all languages say of them.
pub struct Starter {
    /// The file with the workload.
    pub source: &'static str,
    harness: &'static str,
    /// The program's command in TOML, and as a person types it in the folder.
    command: &'static str,
    typed: &'static str,
    /// The models, the first of which is the one that the last is asked to beat.
    models: &'static [&'static str],
    /// The sizes of a quick run, and what a full one has besides.
    sizes: [&'static str; 2],
    /// The parameter with the number of threads.
    workers: &'static str,
    /// A model's line, as the README shows it.
    model_line: &'static str,
    files: &'static [(&'static str, &'static str)],
}

/// A file of a new folder.
pub struct NewFile {
    pub path: String,
    pub text: String,
    pub runs: bool,
}

macro_rules! starter_files {
    ($language:literal: $($path:literal $(from $from:literal)?),+) => {
        &[$(($path, starter_files!(@text $language, $path $(, $from)?))),+]
    };
    (@text $language:literal, $path:literal) => {
        include_str!(concat!("../../../../../lab/starters/", $language, "/", $path))
    };
    (@text $language:literal, $path:literal, $from:literal) => {
        include_str!(concat!("../../../../../lab/starters/", $language, "/", $from))
    };
}

const EXPERIMENT: &str = include_str!("../../../../../lab/starters/experiment.toml.in");
const README: &str = include_str!("../../../../../lab/starters/README.md.in");

const CPP: Starter = Starter {
    source: "workload.cpp",
    harness: "heddle_lab.hpp",
    command: r#""{dir}/@NAME@""#,
    typed: "./@NAME@",
    models: &["serial", "thread"],
    sizes: ["20000, 200000", "1000000"],
    workers: "threads",
    model_line: "lab.model(\"mine\", [&] { found = …; });",
    files: starter_files!("c++": "workload.cpp", "heddle_lab.hpp", "build"),
};

const C: Starter = Starter {
    source: "workload.c",
    harness: "heddle_lab.h",
    model_line: "{\"mine\", a_function}",
    files: starter_files!("c": "workload.c", "heddle_lab.h", "build"),
    ..CPP
};

const GO: Starter = Starter {
    source: "workload.go",
    harness: "heddle_lab.go",
    models: &["serial", "goroutine"],
    workers: "goroutines",
    model_line: "lab.Model(\"mine\", func() { found = … })",
    files: starter_files!("go": "workload.go", "heddle_lab.go", "build", "go.mod" from "go.mod.in"),
    ..CPP
};

const RUST: Starter = Starter {
    source: "src/main.rs",
    harness: "src/heddle_lab.rs",
    command: r#""{dir}/target/release/@NAME@""#,
    typed: "target/release/@NAME@",
    model_line: "lab.model(\"mine\", || Ok(found(…)));",
    files: starter_files!(
        "rust": "src/main.rs", "src/heddle_lab.rs", "build", "Cargo.toml" from "Cargo.toml.in"
    ),
    ..CPP
};

const PYTHON: Starter = Starter {
    source: "workload.py",
    harness: "heddle_lab.py",
    command: r#""python3", "{dir}/workload.py""#,
    typed: "python3 workload.py",
    models: &["serial", "thread", "process/pool"],
    sizes: ["5000, 30000", "100000"],
    workers: "workers",
    model_line: "lab.model(\"mine\", lambda: …)",
    files: starter_files!("python": "workload.py", "heddle_lab.py", "build"),
};

impl Language {
    /// What a new folder of this language holds.
    pub fn starter(self) -> Starter {
        match self {
            Self::Cpp => CPP,
            Self::C => C,
            Self::Go => GO,
            Self::Rust => RUST,
            Self::Python => PYTHON,
        }
    }
}

impl Starter {
    /// The files of a folder for a workload of this name.
    pub fn files(&self, name: &str) -> Vec<NewFile> {
        let experiment = ("@NAME@.toml", EXPERIMENT);
        let readme = ("README.md", README);
        let all = self.files.iter().chain([&experiment, &readme]);
        all.map(|(path, text)| NewFile {
            path: self.filled(path, name),
            text: self.filled(text, name),
            runs: *path == "build",
        })
        .collect()
    }

    fn filled(&self, text: &str, name: &str) -> String {
        let quoted: Vec<String> = self.models.iter().map(|m| format!("{m:?}")).collect();
        let [quick, full] = self.sizes;
        [
            ("COMMAND", self.command),
            ("MODELS", &quoted.join(", ")),
            ("BASE", self.models.first().copied().unwrap_or_default()),
            ("OTHER", self.models.last().copied().unwrap_or_default()),
            ("QUICK", quick),
            ("LARGE", quick.rsplit(' ').next().unwrap_or_default()),
            ("FULL", full),
            ("WORKERS", self.workers),
            ("SOURCE", self.source),
            ("HARNESS", self.harness),
            ("RUN", self.typed),
            ("MODEL_LINE", self.model_line),
            ("NAME", name),
        ]
        .iter()
        .fold(text.to_owned(), |text, (place, what)| {
            text.replace(&format!("@{place}@"), what)
        })
    }
}

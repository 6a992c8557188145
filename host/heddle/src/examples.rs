//! Examples of the verbs: what `--help` and the manual pages print, and what the pages in docs/
//! begin with.

use clap::Command;

/// The examples that `heddle --help` prints, before any verb is chosen.
const OVERVIEW: &str = "\
g++ -g -O2 $(heddle flags) app.cpp -o app   # compile a program so that it can be recorded
heddle record -- ./app                      # run it; heddle.trace is what it called
heddle report                               # calls and times by function
heddle tui                                  # look at it in the terminal
heddle compare ~/my-experiments             # compare concurrency models on a workload of your own
";

/// The examples of a verb, or of `heddle`: command lines, with a comment where one helps.
pub fn examples(name: &str) -> Option<&'static str> {
    let (_, text) = EXAMPLES.iter().find(|(verb, _)| *verb == name)?;
    Some(text)
}

/// The command and its verbs, each with its examples in front of its usage.
pub fn show(command: Command) -> Command {
    with_examples(command).mut_subcommands(with_examples)
}

fn with_examples(command: Command) -> Command {
    let Some(examples) = examples(command.get_name()) else {
        return command;
    };
    let style = command.get_styles().get_header();
    let lines: String = examples.lines().map(|line| format!("  {line}\n")).collect();
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{style}Examples:{style:#}\n{lines}\n\
         {{usage-heading}} {{usage}}\n\n{{all-args}}{{after-help}}"
    );
    command.help_template(template)
}

const EXAMPLES: &[(&str, &str)] = &[
    ("heddle", OVERVIEW),
    (
        "compare",
        "\
heddle compare                       # the main questions: one experiment each, at most four minutes
heddle compare --all                 # all of Heddle's own experiments, quick: ten minutes
heddle compare switch                # those of one workload …
heddle compare b1-switch a1-matrix   # … or by id
heddle compare --model fiber,stackless switch
heddle compare ~/my-experiments      # your own (docs/workloads.md)
heddle compare ./my.toml b1-switch   # names choose among Heddle's own and yours
heddle compare --suite speed         # Heddle itself beside its peers (bench.md)
heddle compare --list                # what there is
heddle compare --show a2-kv          # more about one experiment of the last report
heddle compare --ledger > ledger.md  # what the last report found, to keep
heddle compare --trace a2-kv         # and where the time went
heddle compare --resume              # go on with an interrupted run
heddle compare switch --save main    # keep what was measured …
heddle compare switch --against main # … and be told when a change makes it slower
heddle compare --shard 1/4 --seed 7  # a fourth of the cells; the others elsewhere (cluster.md) …
heddle compare --merge report-*-of-4 # … and one report of all
",
    ),
    (
        "choose",
        "\
heddle choose                                              # asks
heddle choose --waits-on io --alive 200 --work-us 6
heddle choose --waits-on locks --alive 2 --work-us 20 --json
",
    ),
    (
        "new",
        "\
heddle new my-work            # in C++; --lang c, go, rust or python
./my-work/build
heddle compare ./my-work
",
    ),
    (
        "record",
        "\
heddle record -- ./app --its-own arguments
heddle record -o before.trace -- ./app
",
    ),
    (
        "recover",
        "\
heddle recover            # heddle.trace
heddle recover app.trace
",
    ),
    (
        "pack",
        "\
heddle pack                          # heddle.trace → heddle.trace.packed
heddle pack app.trace -o app.packed
heddle report app.packed             # every command reads it
",
    ),
    (
        "replay",
        "\
heddle replay                          # heddle.trace
heddle replay app.trace --format tree  # calls with their times, as a tree
heddle replay -F serve -t 1ms          # what serve calls, if it takes a millisecond or longer
heddle replay --strand 12              # one strand alone
",
    ),
    (
        "report",
        "\
heddle report                          # functions, by self time
heddle report app.trace -s total -n 20
heddle report --by caller              # … each with who called it
heddle report --by lock                # which lock is waited for (heddle record --sync)
heddle report --format csv --mine      # for programs; without libraries' functions
",
    ),
    (
        "graph",
        "\
heddle graph                      # heddle.trace
heddle graph once                 # who calls it, and what it calls
heddle graph once echo.trace --mine
heddle graph --least 5            # what takes a twentieth of all time or more
",
    ),
    (
        "diff",
        "\
heddle record -o before.trace -- ./app
heddle record -o after.trace -- ./app-changed
heddle diff before.trace after.trace
heddle diff before.trace after.trace --fail-if-slower 10    # exit code 3 if something is
",
    ),
    (
        "strands",
        "\
heddle strands                    # heddle.trace
heddle strands --kind fiber app.trace
heddle strands --json             # one object a line
",
    ),
    (
        "tree",
        "\
heddle tree
heddle tree --strand 13
heddle tree --mine           # without libraries' strands and calls
",
    ),
    (
        "tui",
        "\
heddle tui                      # heddle.trace
heddle tui app.trace
",
    ),
    (
        "view",
        "\
heddle view                               # heddle.trace → heddle.trace.html
heddle view app.trace -o app.html -F 'serve*'
",
    ),
    (
        "export",
        "\
heddle export                             # heddle.trace → heddle.trace.perfetto-trace
heddle export --format svg                # a flame graph: heddle.trace.svg
heddle export app.trace -o app.pftrace --strand 1 --strand 12
",
    ),
    (
        "check",
        "\
heddle check                                     # prints the tree of heddle.trace
heddle check heddle.trace app.tree --bless       # writes it, to be edited
heddle check heddle.trace app.tree               # compares
",
    ),
    (
        "advise",
        "\
heddle record --sync -- ./app
heddle advise
",
    ),
    (
        "info",
        "\
heddle info            # heddle.trace
heddle info app.trace
",
    ),
    (
        "flags",
        r#"g++ -O2 $(heddle flags) app.cpp -o app
heddle flags --cmake      # lines for a CMakeLists.txt; --make, --meson
heddle flags --compiler "ccache clang++"     # what this compiler takes
"#,
    ),
    (
        "doctor",
        "\
heddle doctor ./server        # the program, and this machine
heddle doctor                 # this machine alone
",
    ),
    (
        "completions",
        "\
heddle completions bash > ~/.local/share/bash-completion/completions/heddle
heddle completions zsh > ~/.zfunc/_heddle        # a directory in $fpath
heddle completions fish > ~/.config/fish/completions/heddle.fish
",
    ),
];

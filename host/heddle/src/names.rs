//! Names for the addresses of a whole trace; warnings go to stderr when they are met.

use crate::notes;
use heddle_calls::{Variant, Variants};
use heddle_strands::{Kind, Strand, StrandId};
use heddle_symbols::{
    Images, Location, Resolver, SourceLine, coroutine_part, demangle, short_name,
};
use heddle_trace_file::{Addr, Nanos, Process, Thread, Trace};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Stands where the trace does not tell what would be printed: the maker of a thread that was not
/// created by `pthread_create` or `thrd_create`, or of whose creator nothing was recorded then; the
/// name of a fiber whose calls may be another's.
pub const NOT_KNOWN: &str = "not known";

/// How much of a function's name is printed for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Length {
    /// Without template arguments and return types
    #[default]
    Short,
    /// As the demangler gives it
    Full,
}

/// The option of verbs that print names for people.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct NamesArg {
    /// Print names without template arguments and return types, or whole
    #[arg(long, value_enum, default_value_t = Length::Short, value_name = "LENGTH")]
    pub names: Length,
}

/// Resolves addresses by process.
pub struct Names<'a> {
    images: Images,
    /// Whether warnings are left to other names of the same trace.
    quiet: bool,
    length: Length,
    resolvers: Vec<Resolver<'a>>,
    /// By module, function and resume index.
    suspensions: HashMap<(PathBuf, Addr, u16), Option<Option<Addr>>>,
    /// Types of awaiters, likewise.
    awaiters: HashMap<(PathBuf, Addr, u16), Option<Rc<str>>>,
    /// The names that are printed of threads, by process and index.
    threads: FxHashMap<(usize, usize), Rc<str>>,
    /// By process, return address and generation.
    last_calls: FxHashMap<(usize, Addr, u32), Option<Option<Addr>>>,
    /// The names of strands that the program has not named, by process, outermost call and
    /// generation: a million strands may begin with one function.
    strands: FxHashMap<(usize, Addr, u32), Rc<str>>,
}

impl<'a> Names<'a> {
    /// Names for the processes of `trace`, printed whole.
    pub fn new(trace: &'a Trace) -> Self {
        let resolvers = trace
            .processes()
            .iter()
            .map(|process| Resolver::new(process.modules()))
            .collect();
        Names {
            images: trace.symbols().map_or_else(Images::new, Images::packed),
            quiet: false,
            length: Length::Full,
            resolvers,
            suspensions: HashMap::new(),
            awaiters: HashMap::new(),
            threads: FxHashMap::default(),
            last_calls: FxHashMap::default(),
            strands: FxHashMap::default(),
        }
    }

    /// The same, printed at this length.
    pub fn of_length(self, length: Length) -> Self {
        Names { length, ..self }
    }

    /// The same without warnings, for a trace of which other names have warned.
    pub fn quiet(self) -> Self {
        Names {
            quiet: true,
            ..self
        }
    }

    /// What is printed of a location's name.
    pub fn shown<'l>(&self, location: &'l Location) -> &'l str {
        match self.length {
            Length::Short => location.short(),
            Length::Full => &location.name,
        }
    }

    /// The function at `address` in the process with this index.
    pub fn function(&mut self, process: usize, address: Addr, time: Nanos) -> Rc<Location> {
        let location = self.resolvers[process].function(&mut self.images, address, time);
        self.warn();
        location
    }

    /// The name of the function that begins at `address`, as a pointer to it has it.
    pub fn function_at(&mut self, process: usize, address: Addr, time: Nanos) -> Option<String> {
        let location = self.function(process, address, time);
        location.known.then(|| location.name.clone())
    }

    /// The function that will be returned to at `address`.
    pub fn caller(&mut self, process: usize, address: Addr, time: Nanos) -> Rc<Location> {
        let location = self.resolvers[process].caller(&mut self.images, address, time);
        self.warn();
        location
    }

    /// A number that changes when addresses of the process with this index may have changed their
    /// meaning.
    pub fn generation(&self, process: usize, time: Nanos) -> u32 {
        self.resolvers[process].modules().generation(time)
    }

    /// The symbols of the trace's modules, for what looks them up itself.
    pub fn images(&mut self) -> &mut Images {
        &mut self.images
    }

    /// Which functions of each process are one, since they have one name: by index of the process.
    pub fn variants(&mut self) -> Vec<Variants> {
        let mut read: HashMap<(PathBuf, Option<String>), Arc<[Variant]>> = HashMap::new();
        let mut all = Vec::new();
        for resolver in &self.resolvers {
            let modules = resolver.modules().iter().map(|module| {
                let file = (module.path.clone(), module.build_id.clone());
                let variants = read.entry(file).or_insert_with(|| {
                    let found = self.images.variants(module).into_iter();
                    found.map(|(code, first)| Variant { code, first }).collect()
                });
                variants.clone()
            });
            all.push(Variants::new(modules.collect()));
        }
        self.warn();
        all
    }

    /// The name that is printed of the thread with this index in its process, with the number of
    /// its strand where another thread of that process has the same name. A thread that is not
    /// named has that of the program.
    pub fn thread(&mut self, trace: &Trace, process: usize, index: usize) -> Rc<str> {
        let threads = trace.processes()[process].threads();
        let Some(thread) = threads.get(index) else {
            return "?".into();
        };
        let known = self.threads.entry((process, index)).or_insert_with(|| {
            let name = match thread.name() {
                "" => "?".to_owned(),
                name => printable(name),
            };
            let alike = threads.iter().filter(|it| it.name() == thread.name());
            match alike.take(2).count() {
                2 => {
                    let id = StrandId::of_thread(process, index);
                    format!("{name} #{}", strand_label(trace, id)).into()
                }
                _ => name.into(),
            }
        });
        known.clone()
    }

    /// The strand's name for people: the program's own if it has set one, else that of its
    /// outermost call. A coroutine has the name in its source, without the compiler's suffixes.
    /// [`NOT_KNOWN`], if it is not sure that its outermost call is its own.
    pub fn strand(&mut self, strand: &Strand) -> Rc<str> {
        let name = (strand.name(), strand.is_one());
        self.strand_of(strand.id.process(), name, strand.entry())
    }

    /// The strand's name where it stands by itself. A thread has the kernel's number behind it, as
    /// everywhere else ([`thread_label`]): `worker 4712`.
    pub fn single(&mut self, trace: &Trace, strand: &Strand) -> Rc<str> {
        let name = self.strand(strand);
        if strand.kind != Kind::Thread {
            return name;
        }
        let threads = trace.processes()[strand.id.process()].threads();
        match threads.get(strand.thread()) {
            Some(thread) => format!("{name} {}", thread.tid()).into(),
            None => name,
        }
    }

    /// The name of a strand for people, where this is known of it ([`Strand::name`],
    /// [`Strand::is_one`], [`Strand::entry`]).
    pub fn strand_of(
        &mut self,
        process: usize,
        (name, is_one): (Option<&str>, bool),
        entry: Option<(Addr, Nanos)>,
    ) -> Rc<str> {
        if let Some(name) = name {
            return printable(name).into();
        }
        if !is_one {
            return NOT_KNOWN.into();
        }
        let Some((function, time)) = entry else {
            return "?".into();
        };
        let key = (process, function, self.generation(process, time));
        if let Some(known) = self.strands.get(&key) {
            return known.clone();
        }
        let location = self.function(process, function, time);
        let name = self.source_name(&location);
        self.strands.insert(key, name.clone());
        name
    }

    /// The name that is printed of a location. A function that resumes or destroys a coroutine has
    /// the coroutine's name in the source, without the compiler's suffixes.
    pub fn source_name(&self, location: &Location) -> Rc<str> {
        let Some((ramp, ..)) = coroutine_part(&location.symbol) else {
            return self.shown(location).into();
        };
        let name = printable(&demangle(ramp));
        match self.length {
            Length::Short => short_name(&name).into(),
            Length::Full => name.into(),
        }
    }

    /// Where a coroutine is suspended, or was last: the address behind the beginning of the
    /// instruction that its resume index tells of as the program exits, or else its last call,
    /// which is as good as a return address. `Some(None)`: neither tells of one place alone.
    /// `None`: [`Strand::suspended_at`] tells, of a strand that is no coroutine or has no debug
    /// information.
    pub fn left_at(&mut self, strand: &Strand) -> Option<Option<Addr>> {
        if strand.kind != Kind::Coroutine {
            return None;
        }
        let process = strand.id.process();
        if let Some((index, (function, time))) = strand.left_behind().zip(strand.entry())
            && let Some(found) = self.suspension(process, function, index, time)
        {
            return Some(found);
        }
        let (site, time) = strand.suspended_at()?;
        self.suspension_behind(process, site, time)
    }

    /// Where the coroutine is suspended whose code made its last call from `site`, a return
    /// address; the same answers.
    pub fn suspension_behind(
        &mut self,
        process: usize,
        site: Addr,
        time: Nanos,
    ) -> Option<Option<Addr>> {
        let before = Addr(site.0.wrapping_sub(1));
        let key = (process, site, self.generation(process, time));
        if let Some(&known) = self.last_calls.get(&key) {
            return known;
        }
        let modules = self.resolvers[process].modules();
        let module = modules
            .find(before, time)
            .and_then(|index| modules.get(index));
        let found = module.and_then(|module| self.images.suspension_behind(module, site));
        let found = found.map(|found| found.map(|address| Addr(address.0 + 1)));
        // A line is no more than where the last call was: the coroutine may have gone on from
        // there.
        let is_line = found.is_none() && self.line(process, site, time).is_some();
        let found = found.or(is_line.then_some(None));
        self.last_calls.insert(key, found);
        found
    }

    /// Where the coroutine of this function is suspended when its resume index is `index`; the same
    /// answers.
    pub fn suspension(
        &mut self,
        process: usize,
        function: Addr,
        index: u16,
        time: Nanos,
    ) -> Option<Option<Addr>> {
        let modules = self.resolvers[process].modules();
        let module = modules.get(modules.find(function, time)?)?;
        let key = (module.path.clone(), function, index);
        if let Some(&known) = self.suspensions.get(&key) {
            return known;
        }
        let found = self.images.suspension(module, function, index);
        let found = found.map(|found| found.map(|address| Addr(address.0 + 1)));
        self.suspensions.insert(key, found);
        found
    }

    /// The type of what the coroutine of this function awaits at the suspension point with this
    /// resume index, if the code tells.
    pub fn awaiter(
        &mut self,
        process: usize,
        function: Addr,
        index: u16,
        time: Nanos,
    ) -> Option<Rc<str>> {
        let modules = self.resolvers[process].modules();
        let module = modules.get(modules.find(function, time)?)?;
        let key = (module.path.clone(), function, index);
        if let Some(known) = self.awaiters.get(&key) {
            return known.clone();
        }
        let found = self.images.await_suspend(module, function, index);
        let found = found.and_then(|symbol| {
            let name = printable(&demangle(&symbol));
            let name = match self.length {
                Length::Short => short_name(&name),
                Length::Full => name,
            };
            awaiter_of(&name).map(Rc::from)
        });
        self.awaiters.insert(key, found.clone());
        found
    }

    /// What a coroutine awaits as the program exits; see [`Names::left_at`].
    pub fn left_on(&mut self, strand: &Strand) -> Option<Rc<str>> {
        let index = strand.left_behind()?;
        let (function, time) = strand.entry()?;
        self.awaiter(strand.id.process(), function, index, time)
    }

    /// Where a strand is suspended, or was last: of a coroutine, the source line of the `co_await`
    /// if debug information tells, else the function; of a fiber, the function that switched away.
    pub fn suspended_at(
        &mut self,
        process: usize,
        kind: Kind,
        address: Addr,
        time: Nanos,
    ) -> String {
        if kind != Kind::Coroutine {
            let location = self.function(process, address, time);
            return self.shown(&location).to_owned();
        }
        match self.line(process, address, time) {
            Some(line) => line,
            None => {
                let location = self.caller(process, address, time);
                self.shown(&location).to_owned()
            }
        }
    }

    /// The source line of a call, by its return address: `fetch.cpp:12`.
    pub fn line(&mut self, process: usize, address: Addr, time: Nanos) -> Option<String> {
        let before = Addr(address.0.wrapping_sub(1));
        let modules = self.resolvers[process].modules();
        let module = modules
            .find(before, time)
            .and_then(|index| modules.get(index));
        let line = self.images.line(module?, before)?;
        Some(printable(&line.short()))
    }

    /// The source line of the program's own code that makes a call, by its return address: where
    /// the call is in a function of the system's headers that is inlined, that is its caller's.
    pub fn own_line(&mut self, process: usize, address: Addr, time: Nanos) -> Option<String> {
        let before = Addr(address.0.wrapping_sub(1));
        let modules = self.resolvers[process].modules();
        let module = modules.get(modules.find(before, time)?)?;
        let line = self.images.own_line(module, before)?;
        Some(printable(&line.short()))
    }

    /// The path of the source file that a function is in, as the compiler was given it.
    pub fn source(&mut self, process: usize, function: Addr, time: Nanos) -> Option<String> {
        Some(self.place(process, function, time)?.file)
    }

    /// Where in the source a function begins.
    pub fn place(&mut self, process: usize, function: Addr, time: Nanos) -> Option<SourceLine> {
        let modules = self.resolvers[process].modules();
        let module = modules.get(modules.find(function, time)?)?;
        self.images.line(module, function)
    }

    fn warn(&mut self) {
        for warning in self.images.take_warnings() {
            if self.quiet {
                continue;
            }
            notes::warning(printable(&warning.to_string()));
        }
    }
}

/// The type before `::await_suspend` in a function's readable name.
pub fn awaiter_of(name: &str) -> Option<&str> {
    let (kind, rest) = name.split_once("::await_suspend")?;
    let is_member = rest.starts_with(['(', '<']);
    // A parameter may be of such a member.
    let is_path = !kind.replace("(anonymous namespace)", "").contains('(');
    (is_member && is_path).then_some(kind)
}

/// Text from a program, which may hold anything: a newline or an escape sequence must not end up in
/// a line or on the terminal.
pub fn printable(text: &str) -> String {
    heddle_symbols::printable(text)
}

/// File name of the executable; with its pid where the trace holds several processes.
pub fn process_name(process: &Process) -> String {
    let path = std::path::Path::new(process.executable());
    printable(
        &path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy(),
    )
}

/// `12`; with several processes, `4711/12`, and after an exec `4711.1/12`.
pub fn strand_label(trace: &Trace, id: StrandId) -> String {
    let number = id.number();
    match trace.processes() {
        [_] => number.to_string(),
        processes => format!("{}/{number}", processes[id.process()].id()),
    }
}

/// `worker-1 4712`; with several processes, `4711/worker-1 4712`, and after an exec
/// `4711.1/worker-1 4711`.
pub fn thread_label(trace: &Trace, process: &Process, thread: &Thread) -> String {
    let name = if thread.name().is_empty() {
        "?"
    } else {
        thread.name()
    };
    let name = printable(name);
    if trace.processes().len() > 1 {
        format!("{}/{name} {}", process.id(), thread.tid())
    } else {
        format!("{name} {}", thread.tid())
    }
}

/// Whether a function may be a coroutine's. One that was called by an address at the beginning of
/// some object looks like one to the recorder, but not by its name.
pub fn may_have_frame(function: &Location) -> bool {
    !function.known || coroutine_part(&function.symbol).is_some()
}

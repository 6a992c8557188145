//! Recipes from DWARF: where a function has its arguments when it calls the hook at its beginning,
//! and its result when it calls the one at its end.
//!
//! The library knows a call of its hook by the return address, so each such call of a wanted
//! function gets a recipe of its own.
//!
//! - `-finstrument-functions`, enter: an ordinary call within the function, or within what it was
//!   inlined into: the innermost function around it, by debug information, is the one that is
//!   entered, and the parameters' locations at the call hold. The library compares the function
//!   that the hook is called with.
//!   A register that the code before the call has narrowed or changed holds no structure
//!   ([`narrowed`]), what that code has not stored is not in the frame, and what it has stored over
//!   in the caller's is not what was given, nor is what a register holds for the caller
//!   ([`stored`]).
//! - `-mfentry`, enter: the function's first instruction, at which the ABI tells where a parameter
//!   is passed ([`abi`]), and debug information must not contradict it: the first location that
//!   begins there, as a later one may be of what the function puts in its place. Where debug
//!   information names the place at which an unoptimised function is going to store a parameter, it
//!   is not there yet.
//! - `-minstrument-return=call`: the hook is called right before the return, so the ABI tells.
//!   Before a tail call there is no result yet.
//! - `-finstrument-functions`, exit: the code behind the call tells ([`result`]).
//!
//! A function of which the optimiser has made another one (`.constprop.0`, `.isra.0`) has other
//! parameters than the ABI says, and perhaps no result: there only locations count.

mod abi;
mod attributes;
pub(crate) mod machine;
mod narrowed;
mod place;
mod records;
mod result;
mod scopes;
mod steps;
mod stored;
mod types;

use crate::coroutines::{Slice, Unusable, cfa};
use crate::enter_calls::returns_of;
use crate::unpack::Unpacking;
use crate::{SymbolTable, coroutine_part};
use attributes::{location_at, location_at_entry};
use gimli::{AttributeValue, DebugInfoOffset, DwarfSections, EndianSlice, LittleEndian};
use gimli::{SectionId, UnitRef};
use heddle_trace_file::{Field, Missing, Of, Step, Type};
use narrowed::Narrowed;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, SectionKind};
use place::{Context, Place};
pub(crate) use records::member_place;
use scopes::Scope;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use steps::Recipe;
use stored::Stored;
use types::{Described, Reader};
pub(crate) use types::{array_counts, is_other_name, name_of, size_of};

/// What is wanted of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValuesWanted {
    /// Its arguments.
    pub arguments: bool,
    /// Its result.
    pub result: bool,
}

/// A call of a hook, and what the library records there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundValues {
    /// The address that the hook returns to, in the file's own address space.
    pub address: u64,
    /// The function as an enter records it: see
    /// [`ValueSite`](heddle_trace_file::ValueSite::function).
    pub function: u64,
    /// Whether they are arguments or a result.
    pub of: Of,
    /// The values.
    pub fields: Vec<Field>,
    /// How the library finds them.
    pub steps: Vec<Step>,
}

/// The hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hook {
    FunctionEnter,
    FunctionExit,
    EntryEnter,
    EntryExit,
}

/// The recipes of a file, in order of their addresses, and the names of wanted functions of which
/// it has no debug information. `wanted` is asked with symbols.
pub(crate) fn recipes(
    (program, debug): (&[u8], &[u8]),
    table: &SymbolTable,
    wanted: &mut dyn FnMut(&str) -> ValuesWanted,
) -> Result<(Vec<FoundValues>, BTreeSet<String>), Unusable> {
    let file = ElfFile64::<object::LittleEndian>::parse(program)?;
    let mut unpacking = Unpacking::new();
    let debug = ElfFile64::<object::LittleEndian>::parse(debug)?;
    let load = |id: SectionId| match debug.section_by_name(id.name()) {
        Some(section) => unpacking.data(&section),
        None => Ok(Cow::default()),
    };
    let sections = DwarfSections::load(load)?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, LittleEndian));
    let functions = Functions::of(table, wanted);
    if functions.wanted.is_empty() {
        return Ok((Vec::new(), BTreeSet::new()));
    }
    let sites = sites(&file, table);
    let mut finder = Finder {
        cfa: cfa::Table::of(&file)?,
        code: code(&file),
        functions: &functions,
        addresses: HashMap::new(),
        found: Vec::new(),
        described: BTreeSet::new(),
    };
    let units = scopes::units(&dwarf, &sites)?;
    for (unit, scopes) in &units {
        finder.learn(unit.unit_ref(&dwarf), scopes);
    }
    for (unit, scopes) in &units {
        finder.unit(unit.unit_ref(&dwarf), scopes, &sites)?;
    }
    let Finder {
        mut found,
        described,
        ..
    } = finder;
    found.sort_by_key(|values| values.address);
    found.dedup_by_key(|values| values.address);
    let of_hooks = functions.wanted.iter().filter(|(start, wanted)| {
        let end = start.saturating_add(wanted.size);
        let first = sites.partition_point(|&(address, _)| address <= **start);
        sites.get(first).is_some_and(|&(address, _)| address <= end)
    });
    let lacking = of_hooks.filter(|(start, _)| !described.contains(*start));
    let lacking = lacking.map(|(_, wanted)| wanted.symbol.clone()).collect();
    Ok((found, lacking))
}

/// The calls of hooks, by the addresses that they return to, in order.
fn sites(file: &ElfFile64<'_, object::LittleEndian>, table: &SymbolTable) -> Vec<(u64, Hook)> {
    let own = |name: &str| {
        let mut functions = table.stretches();
        let hook = functions.find(|&(_, _, symbol)| symbol == name);
        hook.map(|(start, ..)| start)
    };
    let mut all = Vec::new();
    for (name, hook) in [
        ("__cyg_profile_func_enter", Hook::FunctionEnter),
        ("__cyg_profile_func_exit", Hook::FunctionExit),
        ("__fentry__", Hook::EntryEnter),
        ("__return__", Hook::EntryExit),
    ] {
        let calls = returns_of(file, name.as_bytes(), own(name));
        all.extend(calls.into_iter().map(|(_, back)| (back, hook)));
    }
    all.sort_unstable_by_key(|&(back, _)| back);
    all
}

/// The file's code, section by section.
fn code<'a>(file: &ElfFile64<'a, object::LittleEndian>) -> Vec<(u64, &'a [u8])> {
    let sections = file.sections();
    let text = sections.filter(|section| section.kind() == SectionKind::Text);
    text.filter_map(|section| Some((section.address(), section.data().ok()?)))
        .collect()
}

/// A function that is wanted.
struct Wanted {
    symbol: String,
    size: u64,
    what: ValuesWanted,
}

/// The file's functions by their symbols.
struct Functions {
    /// By where they begin; those that the optimiser has made of another one are that one's.
    wanted: HashMap<u64, Wanted>,
    /// Where every function begins, by its symbol; not so the parts and variants of one.
    starts: HashMap<String, u64>,
    /// Where the functions are of which the ABI does not hold.
    variants: BTreeSet<u64>,
}

impl Functions {
    fn of(table: &SymbolTable, wanted: &mut dyn FnMut(&str) -> ValuesWanted) -> Self {
        let mut functions = Functions {
            wanted: HashMap::new(),
            starts: HashMap::new(),
            variants: BTreeSet::new(),
        };
        for (start, size, symbol) in table.stretches() {
            // What runs a coroutine has its parameters in the frame.
            if coroutine_part(symbol).is_some() {
                continue;
            }
            let is_part = symbol.ends_with(".cold") || symbol.contains(".cold.");
            let is_variant = symbol.contains('.');
            if is_variant {
                functions.variants.insert(start);
            } else {
                functions.starts.entry(symbol.to_owned()).or_insert(start);
            }
            let what = wanted(symbol);
            if !is_part && (what.arguments || what.result) {
                let symbol = symbol.to_owned();
                let all = Wanted { symbol, size, what };
                functions.wanted.entry(start).or_insert(all);
            }
        }
        functions
    }
}

/// Finds recipes, unit by unit.
struct Finder<'f, 'd> {
    cfa: cfa::Table<'d>,
    code: Vec<(u64, &'d [u8])>,
    functions: &'f Functions,
    /// Where a function is that can be called, by the entry that declares it.
    addresses: HashMap<DebugInfoOffset, u64>,
    found: Vec<FoundValues>,
    /// Where the functions begin that debug information knows.
    described: BTreeSet<u64>,
}

impl<'d> Finder<'_, 'd> {
    /// Learns where the unit's functions are.
    fn learn<'a>(&mut self, unit: UnitRef<Slice<'a>>, scopes: &[Scope<'a>]) {
        for scope in scopes.iter().filter(|scope| !scope.inlined) {
            let Some(start) = scope.start() else { continue };
            if self.functions.variants.contains(&start) || self.code_at(start).is_none() {
                continue;
            }
            self.described.insert(start);
            let own = scope.entry.to_debug_info_offset(&unit.header);
            for entry in [own, scope.origin].into_iter().flatten() {
                self.addresses.entry(entry).or_insert(start);
            }
        }
    }

    fn code_at(&self, address: u64) -> Option<&'d [u8]> {
        self.code.iter().find_map(|&(start, bytes)| {
            let at = usize::try_from(address.checked_sub(start)?).ok()?;
            bytes.get(at..).filter(|rest| !rest.is_empty())
        })
    }

    /// Where the function of a scope begins where it can be called; a variant's is the one that it
    /// was made of.
    fn address<'a>(
        &self,
        unit: UnitRef<Slice<'a>>,
        scope: &Scope<'a>,
    ) -> gimli::Result<Option<u64>> {
        if !scope.inlined
            && let Some(start) = scope.start()
            && !self.functions.variants.contains(&start)
        {
            return Ok(Some(start));
        }
        let own = scope.entry.to_debug_info_offset(&unit.header);
        let declared = [scope.origin, own].into_iter().flatten();
        if let Some(&address) = declared
            .filter_map(|entry| self.addresses.get(&entry))
            .next()
        {
            return Ok(Some(address));
        }
        // The copy that counts may be another unit's.
        let name = scopes::linkage_name(unit, scope)?;
        Ok(name.and_then(|name| self.functions.starts.get(&name).copied()))
    }

    fn wanted(&self, address: u64) -> ValuesWanted {
        self.functions
            .wanted
            .get(&address)
            .map_or(ValuesWanted::default(), |wanted| wanted.what)
    }

    fn unit<'a>(
        &mut self,
        unit: UnitRef<Slice<'a>>,
        scopes: &[Scope<'a>],
        sites: &[(u64, Hook)],
    ) -> gimli::Result<()> {
        let (around, innermost) = scopes::holders(scopes, sites);
        // By the function: where its enter's hook returns to.
        let mut entries: HashMap<usize, u64> = HashMap::new();
        for (&site, &scope) in &around {
            if sites[site].1 == Hook::EntryEnter {
                entries.insert(scope, sites[site].0);
            }
        }
        for (&site, &scope) in &around {
            let (address, hook) = sites[site];
            let inner = innermost.get(&site).copied().unwrap_or(scope);
            match hook {
                Hook::FunctionEnter | Hook::EntryEnter => {
                    let by_entry = hook == Hook::EntryEnter;
                    let around = &scopes[scope];
                    let scope = &scopes[if by_entry { scope } else { inner }];
                    let Some(function) = self.address(unit, scope)? else {
                        continue;
                    };
                    if self.wanted(function).arguments {
                        let entered = if by_entry { address } else { function };
                        let scopes = (scope, around);
                        self.arguments(unit, scopes, address, (by_entry, entered))?;
                    }
                }
                Hook::FunctionExit | Hook::EntryExit => {
                    let entered = match hook {
                        Hook::EntryExit => entries.get(&scope).copied(),
                        _ => None,
                    };
                    let scope = &scopes[scope];
                    let Some(function) = self.address(unit, scope)? else {
                        continue;
                    };
                    let is_variant = scope.start() != Some(function);
                    let entered = match (hook, entered) {
                        (Hook::FunctionExit, _) => function,
                        (_, Some(entered)) => entered,
                        _ => continue,
                    };
                    if self.wanted(function).result {
                        let by_entry = hook == Hook::EntryExit;
                        self.result(unit, scope, address, (by_entry, entered, is_variant))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The arguments of `scope`'s function, whose code is in the function `around`, at the call
    /// that returns to `site`.
    fn arguments<'a>(
        &mut self,
        unit: UnitRef<Slice<'a>>,
        (scope, around): (&Scope<'a>, &Scope<'a>),
        site: u64,
        (by_entry, entered): (bool, u64),
    ) -> gimli::Result<()> {
        let given = self.given(unit, scope, site, by_entry)?;
        let pc = site - 1;
        let narrowed = match by_entry {
            true => None,
            false => self.narrowed(scope, pc),
        };
        let mut stored = None;
        let mut recipe = Recipe::default();
        for (parameter, place) in given.parameters {
            let described = parameter.described;
            let place = match &narrowed {
                Some(narrowed) if matches!(described.kind, Type::Record { .. }) => {
                    narrowed.checked(place, described.bytes)
                }
                _ => place,
            };
            // Of an empty object nothing is stored.
            let is_empty = described.parts.as_ref().is_some_and(Vec::is_empty);
            let place = match is_empty {
                true => place,
                false => stored
                    .get_or_insert_with(|| self.stored(around, pc, scope.inlined))
                    .checked(place, described.bytes, given.cfa),
            };
            recipe.add(parameter.name, &described, &place);
        }
        if !recipe.fields.is_empty() {
            self.push(site, entered, Of::Arguments, recipe);
        }
        Ok(())
    }

    /// Where the parameters of `scope`'s function are, by debug information and the ABI, at the
    /// call that returns to `site`.
    fn given<'a>(
        &self,
        unit: UnitRef<Slice<'a>>,
        scope: &Scope<'a>,
        site: u64,
        by_entry: bool,
    ) -> gimli::Result<Given<'a>> {
        let reader = Reader::new(unit);
        let pc = site - 1;
        let cfa = self.cfa.within(&(pc..site))?.first().map(|&(_, cfa)| cfa);
        let frame = match scope.frame_base {
            Some(AttributeValue::Exprloc(expression)) => {
                scopes::frame_base(expression, unit.encoding(), cfa)
            }
            _ => None,
        };
        let context = Context {
            encoding: unit.encoding(),
            frame,
            cfa,
            at_entry: by_entry,
        };
        let is_variant = scope
            .start()
            .is_some_and(|start| self.functions.variants.contains(&start));
        let by_the_abi = by_entry && !is_variant;
        let result = scopes::result(&reader, scope)?;
        let mut passed = abi::Arguments::of(result.as_ref());
        // GCC says of a whole function what a parameter is where it knows of one value alone. That
        // is the one given if the optimiser has put a constant in place of the parameter: in what
        // it has inlined, or made of another function. Else a later statement may have set it. Of
        // what takes two registers, GCC knows no other value than a constant.
        let replaced = scope.inlined || is_variant;
        let believed = |described: &Described| replaced && described.bytes <= types::WORD;
        let promoted = by_the_abi && scopes::is_unprototyped(unit, scope)?;
        let (mut parameters, mut otherwise) = (Vec::new(), false);
        for mut parameter in scopes::parameters(&reader, scope)? {
            if let Some(AttributeValue::Exprloc(expression)) = parameter.location
                && let Some(by_address) = scopes::is_by_address(expression, unit.encoding())
            {
                parameter.described.by_reference = by_address;
            }
            let is_float = parameter.described.kind == Type::Float { bytes: 4 };
            if promoted && is_float {
                parameter.described = Described::double();
            }
            let by_abi = passed.next(&parameter.described);
            let place = match parameter.location {
                Some(AttributeValue::Exprloc(expression)) => {
                    let stored = by_entry && scopes::is_stored_later(expression, unit.encoding());
                    match stored {
                        true if is_variant => Place::Missing(Missing::NotKnown),
                        true => by_abi.clone(),
                        false => place::place(expression, &context),
                    }
                }
                Some(list) => {
                    let start = scope.start().filter(|_| by_entry);
                    let found = match start {
                        Some(start) => location_at_entry(unit, list, start)?,
                        None => location_at(unit, list, pc)?,
                    };
                    match found {
                        Some(expression) => place::place(expression, &context),
                        None => Place::Missing(Missing::OptimisedOut),
                    }
                }
                None => match &parameter.constant {
                    Some(bytes) if believed(&parameter.described) => Place::Constant(bytes.clone()),
                    _ => Place::Missing(Missing::OptimisedOut),
                },
            };
            otherwise |= by_the_abi && is_elsewhere(&place, &by_abi, &parameter.described);
            let place = match by_the_abi {
                // Debug information tells of the parameter, not of what it was converted from.
                true if promoted && is_float => by_abi,
                true => agreed(place, by_abi, &parameter.described),
                false => place,
            };
            parameters.push((parameter, place));
        }
        let shared = match is_variant {
            true => in_shared_registers(parameters.iter().map(|(_, place)| place)),
            false => vec![false; parameters.len()],
        };
        for ((_, place), shared) in parameters.iter_mut().zip(shared) {
            if otherwise || shared {
                *place = Place::Missing(Missing::NotKnown);
            }
        }
        Ok(Given {
            parameters,
            cfa,
            otherwise,
        })
    }

    /// What the code of a scope, up to the one at `end`, leaves of what registers held.
    fn narrowed(&self, scope: &Scope, end: u64) -> Option<Narrowed> {
        let (code, start) = self.code_to(scope, end)?;
        Some(Narrowed::behind(code, start, scope.inlined))
    }

    /// What the code of a function, up to the one at `end`, has stored in its frame; `inlined`: for
    /// a function that was inlined there.
    fn stored(&self, function: &Scope, end: u64, inlined: bool) -> Stored {
        let code = match function.begins_with(end) {
            true => self.code_to(function, end),
            false => None,
        };
        code.map_or_else(Stored::nothing, |(code, start)| {
            Stored::behind(code, start, inlined)
        })
    }

    /// The code of a scope up to the one at `end`, and where it begins.
    fn code_to(&self, scope: &Scope, end: u64) -> Option<(&'d [u8], u64)> {
        let start = scope.start()?;
        let bytes = usize::try_from(end.checked_sub(start)?).ok()?;
        Some((self.code_at(start)?.get(..bytes)?, start))
    }

    fn result<'a>(
        &mut self,
        unit: UnitRef<Slice<'a>>,
        scope: &Scope<'a>,
        site: u64,
        (by_entry, entered, is_variant): (bool, u64, bool),
    ) -> gimli::Result<()> {
        let reader = Reader::new(unit);
        let Some(described) = scopes::result(&reader, scope)? else {
            return Ok(());
        };
        let unknown = is_variant || (by_entry && self.given(unit, scope, entered, true)?.otherwise);
        let place = self.result_place(&described, site, by_entry, unknown);
        // An exit on the way of an exception gives nothing back.
        if let Some(place) = place {
            let mut recipe = Recipe::default();
            recipe.add(String::new(), &described, &place);
            self.push(site, entered, Of::Result, recipe);
        }
        Ok(())
    }

    fn result_place(
        &self,
        described: &Described,
        site: u64,
        by_entry: bool,
        unknown: bool,
    ) -> Option<Place> {
        let wanted = abi::result(described);
        if unknown {
            return Some(Place::Missing(Missing::NotKnown));
        }
        let code = self.code_at(site)?;
        if by_entry {
            let returns = matches!(code, [0xc3, ..] | [0xc2, ..] | [0xf3 | 0xf2, 0xc3, ..]);
            return Some(match returns {
                true => wanted,
                false => Place::Missing(Missing::NotKnown),
            });
        }
        let bytes = match described.form {
            types::Form::Plain => described.bytes,
            _ => 8,
        };
        let code_at = |address| self.code_at(address);
        Some(result::traced(site, &code_at, (&wanted, bytes.min(16))))
    }

    fn push(&mut self, address: u64, function: u64, of: Of, recipe: Recipe) {
        self.found.push(FoundValues {
            address,
            function,
            of,
            fields: recipe.fields,
            steps: recipe.steps,
        });
    }
}

/// Where a function's parameters are.
struct Given<'a> {
    parameters: Vec<(scopes::Parameter<'a>, Place)>,
    /// The canonical frame address there.
    cfa: Option<cfa::Cfa>,
    /// The function is called by another ABI (`__attribute__((ms_abi))`), so nothing is known.
    otherwise: bool,
}

/// For each place, whether it is a register that is another one's, too. GCC 12 may say of a
/// parameter which it has removed from a function that it is where it would be passed, which is
/// where another one is passed now.
fn in_shared_registers<'p>(places: impl Iterator<Item = &'p Place>) -> Vec<bool> {
    let places: Vec<&Place> = places.collect();
    let is_shared = |place: &&Place| {
        let same = places.iter().filter(|other| *other == place);
        matches!(place, Place::Register { .. } | Place::Vector(_)) && same.count() > 1
    };
    places.iter().map(is_shared).collect()
}

/// Whether debug information has a parameter, at a function's entry, in another register than the
/// ABI has it, or on the stack: nothing else tells that the function is called by another ABI.
fn is_elsewhere(told: &Place, by_abi: &Place, described: &Described) -> bool {
    let is_one = !matches!(
        described.kind,
        Type::Record { .. } | Type::Array { .. } | Type::Opaque(_)
    );
    let told_one = match told {
        Place::Register { offset: 0, .. } | Place::Vector(_) => true,
        Place::Memory { steps, .. } => matches!(steps[..], [Step::Register(place::RSP, _)]),
        _ => false,
    };
    let passed = matches!(by_abi, Place::Register { .. } | Place::Vector(_));
    is_one && described.bytes <= types::WORD && told_one && passed && told != by_abi
}

/// Where a parameter is at a function's entry, by debug information and by the ABI. Both know it
/// there; if they contradict each other, one of them is wrong.
fn agreed(told: Place, by_abi: Place, described: &Described) -> Place {
    // GCC 12 tells of a pair of registers as it is behind the function's first instructions.
    let is_pair = matches!(described.kind, Type::Integer { bytes, .. } if bytes > 8);
    let lacks = |place: &Place| match place {
        Place::Missing(_) => true,
        Place::Pieces(pieces) => pieces
            .iter()
            .any(|(piece, _)| matches!(piece, Place::Missing(_))),
        _ => false,
    };
    let told = match told {
        Place::Pieces(mut pieces) if pieces.len() == 1 => match pieces.pop() {
            Some((place, bytes)) if u64::from(bytes) >= described.bytes => place,
            piece => Place::Pieces(piece.into_iter().collect()),
        },
        told => told,
    };
    // Of an empty object nothing is passed.
    let is_empty = by_abi == Place::Pieces(Vec::new());
    match (&told, &by_abi) {
        _ if told == by_abi => told,
        _ if is_empty => by_abi,
        (_, Place::Missing(_)) if !lacks(&told) => told,
        // What the function has no use for was passed all the same, and what is always the same in
        // it may be what the function itself has put in its place.
        _ if lacks(&told) || is_pair || matches!(told, Place::Constant(_)) => by_abi,
        _ => Place::Missing(Missing::NotKnown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_that_two_parameters_are_said_to_be_in_is_known_of_neither() {
        let at = |register| Place::Register {
            register,
            offset: 0,
        };
        let gone = Place::Missing(Missing::OptimisedOut);
        let places = [at(3), at(3), at(12), gone.clone(), gone];
        let shared = in_shared_registers(places.iter());
        assert_eq!(shared, [true, true, false, false, false]);
    }
}

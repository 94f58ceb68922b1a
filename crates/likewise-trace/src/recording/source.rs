//! Functions, files and lines of the frames of call paths.
//!
//! They come from the DWARF data of the module, or from those that Debian and
//! others keep apart under its build id; else from its ELF symbols. A module
//! whose file is gone, or is another one now, names nothing: its frames are
//! shown as module and offset.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use cpp_demangle::DemangleOptions;
use likewise_recording::{Frame, Module, NO_FILE};
use memmap2::Mmap;
use object::{Object, ObjectSection, ObjectSymbol};

use crate::error::printable;
use crate::quick::QuickState;

/// The longest name of a function that is shown.
const MAX_NAME: usize = 300;
/// Names longer than this are shown as they are: demangling takes time.
const MAX_MANGLED: usize = 4_000;
/// Inlined functions of one address beyond this are left out.
const MAX_INLINED: usize = 64;
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";

/// Where in the source an address lies; all text is safe to print.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Location {
    /// The function; `module+0xoffset` where nobody knows it.
    pub function: String,
    /// Its file as the compiler names it; empty if unknown.
    pub file: String,
    /// Its line; 0 if unknown.
    pub line: u32,
    /// The column in that line; 0 if unknown. It is no part of a name.
    pub column: u32,
}

impl Location {
    /// `function (file:line)`, as far as it is known; the file without its folder.
    #[must_use]
    pub fn name(&self) -> String {
        match self.has_line() {
            true => format!("{} ({}:{})", self.function, self.base(), self.line),
            false => self.function.clone(),
        }
    }

    /// Whether its line is known.
    #[must_use]
    pub fn has_line(&self) -> bool {
        self.line > 0 && !self.base().is_empty()
    }

    /// The file without its folder.
    #[must_use]
    pub fn base(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or_default()
    }
}

/// Finds the source of frames.
pub struct Source {
    modules: Vec<Known>,
    found: HashMap<Frame, Vec<Location>, QuickState>,
    /// What could not be read, for people.
    pub notes: Vec<String>,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("notes", &self.notes).finish_non_exhaustive()
    }
}

/// A module: opened when a frame first asks for it.
struct Known {
    module: Module,
    image: Option<Image>,
    tried: bool,
}

/// What a module's file tells.
struct Image {
    dwarf: Option<Loader>,
    /// Functions by address: begin, end, name as it is in the file.
    symbols: Vec<(u64, u64, String)>,
}

impl Source {
    /// That of the modules of a recording. No file is read yet.
    #[must_use]
    pub fn new(modules: &[Module]) -> Self {
        let known = |module: &Module| Known { module: module.clone(), image: None, tried: false };
        Self { modules: modules.iter().map(known).collect(), found: HashMap::default(), notes: Vec::new() }
    }

    /// Where a frame lies: its function, and those that it was inlined into,
    /// the innermost first. Never empty.
    pub fn locations(&mut self, frame: Frame) -> &[Location] {
        if !self.found.contains_key(&frame) {
            let found = self.find(frame);
            self.found.insert(frame, found);
        }
        &self.found[&frame]
    }

    fn find(&mut self, frame: Frame) -> Vec<Location> {
        // A frame holds where the call returns to, which may be another line,
        // or even another function.
        let address = frame.offset.saturating_sub(1);
        let Some(known) = self.modules.get_mut(frame.module as usize) else {
            return vec![Location { function: format!("{:#x}", frame.offset), ..Location::default() }];
        };
        if !known.tried {
            known.tried = true;
            match Image::open(&known.module) {
                Ok(image) => known.image = Some(image),
                Err(_) if known.module.path == NO_FILE => self.notes.push(
                    "some calls come from code of no file, made while the program ran: its functions are not known"
                        .to_owned(),
                ),
                Err(why) => self.notes.push(format!(
                    "{}: {why}; its functions are shown as offsets",
                    printable(known.module.path.as_bytes(), MAX_NAME)
                )),
            }
        }
        let found = known.image.as_ref().map_or_else(Vec::new, |image| image.locations(address));
        match found.is_empty() {
            true => vec![Location { function: unnamed(&known.module, frame.offset), ..Location::default() }],
            false => found,
        }
    }
}

/// `module+0xoffset`.
fn unnamed(module: &Module, offset: u64) -> String {
    format!("{}+{offset:#x}", printable(base(&module.path).as_bytes(), MAX_NAME))
}

/// The name of a file without its folder.
pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Image {
    /// Reads the file of a module, if it is still the one that was recorded.
    fn open(module: &Module) -> Result<Self, String> {
        let path = Path::new(&module.path);
        if !path.is_file() {
            return Err("there is no such file here".to_owned());
        }
        let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
        // SAFETY: the map is only read, as bytes, and any bytes are valid. A
        // file that someone cuts meanwhile ends the process: see `heed_files`.
        let map = unsafe { Mmap::map(&file) }.map_err(|error| format!("cannot be read: {error}"))?;
        let elf = object::File::parse(&*map).map_err(|error| format!("is no ELF file: {error}"))?;
        let build_id = elf.build_id().ok().flatten().unwrap_or_default();
        // A recording has the first bytes of it.
        let kept = &build_id[..build_id.len().min(likewise_recording::MOST_OF_ID)];
        if kept != &module.build_id[..module.build_id.len().min(likewise_recording::MOST_OF_ID)] {
            return Err(
                "the file is another one now than when it was recorded (its build id differs)".to_owned()
            );
        }
        let has_dwarf =
            |elf: &object::File<'_>| elf.section_by_name(".debug_info").is_some_and(|s| s.size() > 0);
        let debug = if has_dwarf(&elf) { Some(path.to_owned()) } else { debug_file(build_id) };
        let mut symbols = symbols(&elf);
        if symbols.is_empty() {
            // A separate file also has the symbols that were stripped.
            symbols = debug.as_deref().map_or_else(Vec::new, symbols_of);
        }
        Ok(Self { dwarf: debug.and_then(|path| Loader::new(path).ok()), symbols })
    }

    fn locations(&self, address: u64) -> Vec<Location> {
        let mut found = self.dwarf.as_ref().map_or_else(Vec::new, |loader| from_dwarf(loader, address));
        if let Some(outermost) = found.last_mut()
            && let Some(symbol) = self.symbol(address)
            // The debug data may lack the name, or what the function is part of.
            && (outermost.function.is_empty() || symbol.ends_with(&format!("::{}", outermost.function)))
        {
            outermost.function = symbol;
        }
        found.retain(|location| !location.function.is_empty());
        if found.is_empty() {
            found.extend(self.symbol(address).map(|function| Location { function, ..Location::default() }));
        }
        found
    }

    fn symbol(&self, address: u64) -> Option<String> {
        let after = self.symbols.partition_point(|symbol| symbol.0 <= address);
        let (_, end, name) = self.symbols.get(after.checked_sub(1)?)?;
        (address < *end).then(|| readable(name))
    }
}

fn from_dwarf(loader: &Loader, address: u64) -> Vec<Location> {
    let mut found = Vec::new();
    let Ok(mut frames) = loader.find_frames(address) else { return found };
    while found.len() < MAX_INLINED
        && let Ok(Some(frame)) = frames.next()
    {
        let name = frame.function.as_ref().and_then(|function| function.raw_name().ok());
        let function = name.map_or_else(String::new, |name| readable(&name));
        let file = frame.location.as_ref().and_then(|location| location.file);
        let file = file.map_or_else(String::new, |file| printable(file.as_bytes(), 1_000));
        let location = frame.location.as_ref();
        let line = location.and_then(|location| location.line).unwrap_or(0);
        let column = location.and_then(|location| location.column).unwrap_or(0);
        found.push(Location { function, file, line, column });
    }
    found
}

/// The file with the DWARF data of that build id, where distributions put it.
fn debug_file(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    let hex: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = Path::new(DEBUG_FILES).join(format!("{first:02x}")).join(format!("{hex}.debug"));
    path.is_file().then_some(path)
}

fn symbols_of(path: &Path) -> Vec<(u64, u64, String)> {
    let Ok(file) = File::open(path) else { return Vec::new() };
    // SAFETY: as in `Image::open`.
    let Ok(map) = (unsafe { Mmap::map(&file) }) else { return Vec::new() };
    object::File::parse(&*map).map_or_else(|_| Vec::new(), |elf| symbols(&elf))
}

/// The functions of `.symtab` and `.dynsym`, by address. One without a length
/// reaches to the next.
fn symbols(elf: &object::File<'_>) -> Vec<(u64, u64, String)> {
    let named = |symbol: object::Symbol<'_, '_>| {
        let is_function = symbol.kind() == object::SymbolKind::Text && symbol.is_definition();
        let name = symbol.name_bytes().ok().filter(|name| is_function && !name.is_empty())?;
        let name = String::from_utf8_lossy(&name[..name.len().min(2 * MAX_MANGLED)]).into_owned();
        Some((symbol.address(), symbol.address().saturating_add(symbol.size()), name))
    };
    let mut symbols: Vec<_> = elf.symbols().chain(elf.dynamic_symbols()).filter_map(named).collect();
    // Of aliases, the longest, and the same one on every run.
    symbols.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2)));
    symbols.dedup_by_key(|symbol| symbol.0);
    for at in 0..symbols.len() {
        if symbols[at].1 == symbols[at].0 {
            symbols[at].1 = symbols.get(at + 1).map_or(u64::MAX, |next| next.0);
        }
    }
    symbols
}

/// A function's name as people write it: without parameters, and `module::name`
/// for what gfortran calls `__module_MOD_name`.
fn readable(name: &str) -> String {
    if name.len() > MAX_MANGLED {
        return printable(name.as_bytes(), MAX_NAME);
    }
    let name = without_clone(name);
    let plain = match name {
        _ if name.starts_with("_R") || is_old_rust(name) => {
            rustc_demangle::try_demangle(name).ok().map(|n| format!("{n:#}"))
        }
        _ if name.starts_with("_Z") => demangled(name),
        _ => fortran(name),
    };
    printable(plain.as_deref().unwrap_or(name).as_bytes(), MAX_NAME)
}

/// Compilers split functions into parts and copies: `f.cold`, `f.part.0`.
fn without_clone(name: &str) -> &str {
    let clones = [".cold", ".part.", ".constprop.", ".isra.", ".lto_priv."];
    let cut = clones.iter().filter_map(|clone| name.find(clone)).filter(|&at| at > 0).min();
    cut.map_or(name, |at| &name[..at])
}

/// Before version 0, Rust wrote names as C++ does, with a hash at the end.
fn is_old_rust(name: &str) -> bool {
    let hash =
        name.strip_suffix('E').and_then(|name| name.len().checked_sub(19).and_then(|at| name.get(at..)));
    name.starts_with("_ZN") && hash.is_some_and(|hash| hash.starts_with("17h"))
}

fn demangled(name: &str) -> Option<String> {
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    symbol.demangle_with_options(&DemangleOptions::new().no_params().no_return_type()).ok()
}

fn fortran(name: &str) -> Option<String> {
    let (module, procedure) = name.strip_prefix("__")?.split_once("_MOD_")?;
    Some(format!("{module}::{procedure}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable() {
        for (raw, name) in [
            ("_ZN9LAMMPS_NS9PairLJCut7computeEii", "LAMMPS_NS::PairLJCut::compute"),
            ("__redblack_MOD_send2d", "redblack::send2d"),
            ("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"),
            ("main", "main"),
            ("solve.constprop.0.cold", "solve"),
            ("_Znonsense", "_Znonsense"),
            ("a\u{1b}[31m", "a\\u{1b}[31m"),
        ] {
            assert_eq!(readable(raw), name);
        }
    }

    #[test]
    fn a_location_says_what_is_known() {
        let at = |file: &str, line| {
            Location { function: "f".to_owned(), file: file.to_owned(), line, column: 3 }.name()
        };
        assert_eq!(at("/src/a.c", 7), "f (a.c:7)");
        assert_eq!((at("", 7), at("a.c", 0)), ("f".to_owned(), "f".to_owned()));
    }

    /// A small program as a module; none without a C compiler.
    fn compiled(dir: &Path, options: &[&str]) -> Option<Module> {
        let text = dir.join("a.c");
        std::fs::write(
            &text,
            "__attribute__((noinline)) int g(int x) {\n  return x * 3;\n}\nint main(int n, char **v) {\n  (void)v;\n  return g(n);\n}\n",
        )
        .expect("it is written");
        let path = dir.join("a");
        let cc = std::process::Command::new("cc")
            .args(options)
            .args(["-Wl,--build-id", "-o"])
            .arg(&path)
            .arg(&text)
            .status();
        if !cc.is_ok_and(|status| status.success()) {
            likewise_testing::skip("no C compiler");
            return None;
        }
        let bytes = std::fs::read(&path).expect("it is readable");
        let elf = object::File::parse(&bytes[..]).expect("an ELF file");
        let build_id = elf.build_id().expect("notes are read").unwrap_or_default().to_vec();
        Some(Module { build_id, path: path.display().to_string() })
    }

    fn address(module: &Module, name: &str) -> u64 {
        let bytes = std::fs::read(&module.path).expect("it is readable");
        let elf = object::File::parse(&bytes[..]).expect("an ELF file");
        elf.symbols().find(|s| s.name() == Ok(name)).expect("a symbol").address()
    }

    #[test]
    fn a_frame_is_found_in_its_source_or_among_the_symbols() {
        let dir = tempfile::tempdir().expect("a folder");
        for (options, name) in [(&["-g", "-O0"][..], "g (a.c:1)"), (&["-O0"], "g")] {
            let Some(module) = compiled(dir.path(), options) else { return };
            let mut source = Source::new(std::slice::from_ref(&module));
            let offset = address(&module, "g") + 2;
            let found = source.locations(Frame { module: 0, offset });
            assert_eq!(found.iter().map(Location::name).collect::<Vec<_>>(), [name]);
            let nowhere = source.locations(Frame { module: 0, offset: 2 });
            assert!(nowhere[0].function.ends_with("+0x2"), "{nowhere:?}");
            assert_eq!(source.locations(Frame { module: 9, offset: 16 })[0].function, "0x10");
            assert_eq!(source.notes, Vec::<String>::new());
        }
    }

    #[test]
    fn another_build_names_nothing_and_says_so() {
        let dir = tempfile::tempdir().expect("a folder");
        let Some(mut module) = compiled(dir.path(), &["-g"]) else { return };
        let offset = address(&module, "g") + 2;
        module.build_id[0] ^= 1;
        let gone = Module { path: "/no/such/lib.so".to_owned(), build_id: Vec::new() };
        let mut source = Source::new(&[module, gone]);
        assert!(source.locations(Frame { module: 0, offset })[0].function.contains("+0x"));
        assert_eq!(source.locations(Frame { module: 1, offset: 7 })[0].function, "lib.so+0x7");
        assert!(source.notes[0].contains("its build id differs"), "{:?}", source.notes);
        assert!(source.notes[1].contains("no such file"), "{:?}", source.notes);
    }

    #[test]
    fn damaged_files_are_read_without_a_panic() {
        let dir = tempfile::tempdir().expect("a folder");
        let Some(module) = compiled(dir.path(), &["-g", "-O1"]) else { return };
        let whole = std::fs::read(&module.path).expect("it is readable");
        let bad = dir.path().join("bad");
        let mut seed = 7_u64;
        for round in 0..300 {
            let mut bytes = whole.clone();
            for _ in 0..1 + round % 40 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (seed >> 33) as usize % bytes.len();
                bytes[at] = (seed >> 20) as u8;
            }
            bytes.truncate(if round % 3 == 0 { (seed >> 30) as usize % whole.len() } else { whole.len() });
            std::fs::write(&bad, &bytes).expect("it is written");
            let elf = object::File::parse(&bytes[..]);
            let build_id = elf.ok().and_then(|elf| elf.build_id().ok().flatten().map(<[u8]>::to_vec));
            let module = Module { build_id: build_id.unwrap_or_default(), path: bad.display().to_string() };
            let mut source = Source::new(&[module]);
            for offset in (0x1000..0x1300).step_by(5).chain([0, u64::MAX]) {
                assert!(!source.locations(Frame { module: 0, offset }).is_empty());
            }
        }
    }
}

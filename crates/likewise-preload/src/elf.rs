//! Loaded objects as the loader sees them: their symbols, and where they refer to those
//! of others (System V ABI, and its supplement for x86-64).
//!
//! An object without a table of hashes in GNU's form defines nothing here.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An entry of the dynamic section.
#[derive(Clone, Copy)]
#[repr(C)]
struct Dynamic {
    tag: u64,
    value: usize,
}

const STRINGS: u64 = 5;
const SYMBOLS: u64 = 6;
const RELOCATIONS: u64 = 7;
const SIZE_OF_RELOCATIONS: u64 = 8;
const SIZE_OF_CALLS: u64 = 2;
const CALLS: u64 = 23;
const GNU_HASH: u64 = 0x6fff_fef5;
const LARGEST: u64 = CALLS;

/// An entry of the table of symbols.
#[derive(Clone, Copy)]
#[repr(C)]
struct Entry {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: usize,
    size: u64,
}

/// A kind of symbol. (One that the loader calls to learn the address is another.)
const FUNCTION: u8 = 2;
/// Sections of symbols that an object does not define, or that are numbers.
const UNDEFINED: u16 = 0;
const ABSOLUTE: u16 = 0xfff1;

/// A place that the loader fills in.
#[derive(Clone, Copy)]
#[repr(C)]
struct Relocation {
    offset: usize,
    info: u64,
    addend: i64,
}

/// Relocations that are the address of a symbol: `R_X86_64_64`, `_GLOB_DAT`, `_JUMP_SLOT`.
const ADDRESSES: [u32; 3] = [1, 6, 7];

/// The number of a symbol in its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol(u32);

/// A loaded object.
pub(crate) struct Object {
    base: usize,
    symbols: usize,
    strings: usize,
    hashes: Option<Hashes>,
    /// Addresses of tables, and how many entries they have.
    relocations: [(usize, usize); 2],
    /// Mapped parts, and how they are protected.
    segments: Vec<(Range<usize>, c_int)>,
    /// What the loader has made read-only.
    read_only: Range<usize>,
}

/// Where the parts of a table of hashes are.
struct Hashes {
    filter: usize,
    n_filter: u32,
    shift: u32,
    buckets: usize,
    n_buckets: u32,
    chains: usize,
    first: u32,
}

/// What stands in the memory of a loaded object.
fn at<T: Copy>(address: usize) -> T {
    // SAFETY: the tables of an object are mapped, aligned, and lead to no other place.
    unsafe { (address as *const T).read() }
}

impl Object {
    /// All that are loaded, in the loader's order.
    pub(crate) fn all() -> Vec<Self> {
        unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, all: *mut c_void) -> c_int {
            // SAFETY: the loader gives a valid record.
            let info = unsafe { &*info };
            // SAFETY: it is the vector that was given below.
            let all = unsafe { &mut *all.cast::<Vec<Object>>() };
            // No panic may go through the loader; an object that makes one is left out.
            let read = std::panic::catch_unwind(|| Object::read(info));
            all.extend(read.ok().flatten());
            0
        }
        let mut all: Vec<Self> = Vec::new();
        // SAFETY: `add` takes the vector that goes with it.
        unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut all).cast()) };
        all
    }

    fn read(info: &libc::dl_phdr_info) -> Option<Self> {
        let base = info.dlpi_addr as usize;
        // SAFETY: the loader's headers are as many as it says.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let place = |header: &libc::Elf64_Phdr| {
            let begin = base.wrapping_add(header.p_vaddr as usize);
            begin..begin.wrapping_add(header.p_memsz as usize)
        };
        let of_kind = |kind| headers.iter().filter(move |header| header.p_type == kind);
        let segments: Vec<_> =
            of_kind(libc::PT_LOAD).map(|header| (place(header), protection(header))).collect();
        let is_mapped = |at: &usize| segments.iter().any(|(segment, _)| segment.contains(at));
        let mut dynamic = of_kind(libc::PT_DYNAMIC).map(|header| place(header).start);
        let entries = entries(dynamic.find(is_mapped)?);
        let value = |tag: u64| entries.iter().find(|entry| entry.tag == tag).map(|entry| entry.value);
        // The loader writes addresses there, but not into what is read-only.
        let address = |tag| {
            value(tag).map(|at| if at < base { base.wrapping_add(at) } else { at }).filter(|at| is_mapped(at))
        };
        let table = |tag, size: Option<usize>| {
            address(tag).zip(size).map_or((0, 0), |(at, size)| (at, size / size_of::<Relocation>()))
        };
        Some(Self {
            base,
            symbols: address(SYMBOLS)?,
            strings: address(STRINGS)?,
            hashes: address(GNU_HASH).and_then(Hashes::read),
            relocations: [table(RELOCATIONS, value(SIZE_OF_RELOCATIONS)), table(CALLS, value(SIZE_OF_CALLS))],
            read_only: of_kind(libc::PT_GNU_RELRO).map(place).next().map_or(0..0, whole_pages),
            segments,
        })
    }

    /// Whether an address is in this object.
    pub(crate) fn contains(&self, address: usize) -> bool {
        self.segments.iter().any(|(segment, _)| segment.contains(&address))
    }

    fn entry(&self, symbol: Symbol) -> usize {
        self.symbols + symbol.0 as usize * size_of::<Entry>()
    }

    /// The name of a symbol.
    pub(crate) fn name(&self, symbol: Symbol) -> &[u8] {
        let name = self.strings + at::<Entry>(self.entry(symbol)).name as usize;
        // SAFETY: names of loaded objects end with a zero, and stay as long as these are loaded.
        unsafe { CStr::from_ptr(name as *const _) }.to_bytes()
    }

    /// The function of that name, if this object defines it at a place of its own.
    pub(crate) fn defined(&self, name: &[u8]) -> Option<Symbol> {
        let is_function = |symbol: &Symbol| {
            let Entry { info, section, .. } = at(self.entry(*symbol));
            info & 15 == FUNCTION && ![UNDEFINED, ABSOLUTE].contains(&section)
        };
        let mut chain = self.hashes.as_ref()?.chain(hash(name))?;
        chain.find(|symbol| self.name(*symbol) == name && is_function(symbol))
    }

    /// Where a symbol leads to that this object defines.
    pub(crate) fn address(&self, symbol: Symbol) -> usize {
        self.base.wrapping_add(at::<Entry>(self.entry(symbol)).value)
    }

    /// From now on the symbol leads elsewhere.
    pub(crate) fn redefine(&self, symbol: Symbol, to: usize) {
        let value = self.entry(symbol) + std::mem::offset_of!(Entry, value);
        self.write(value, to.wrapping_sub(self.base));
    }

    /// Where this object has addresses of symbols, and of which.
    pub(crate) fn references(&self) -> impl Iterator<Item = (usize, Symbol)> {
        let relocations = self.relocations.into_iter().flat_map(|(table, n)| {
            (0..n).map(move |number| at::<Relocation>(table + number * size_of::<Relocation>()))
        });
        let addresses = relocations.filter(|relocation| ADDRESSES.contains(&(relocation.info as u32)));
        let places = addresses.map(|relocation| {
            (self.base.wrapping_add(relocation.offset), Symbol((relocation.info >> 32) as u32))
        });
        // In packed tables they may be anywhere.
        places.filter(|(place, _)| place.is_multiple_of(align_of::<usize>()) && self.contains(*place))
    }

    /// What stands there now.
    pub(crate) fn word(&self, place: usize) -> usize {
        at(place)
    }

    /// Writes a word, also where nobody may write. Where the system does not let us, all
    /// stays as it is.
    pub(crate) fn write(&self, place: usize, word: usize) {
        let Some((_, usual)) = self.segments.iter().find(|(segment, _)| segment.contains(&place)) else {
            return;
        };
        let usual = if self.read_only.contains(&place) { libc::PROT_READ } else { *usual };
        let writable = usual | libc::PROT_WRITE;
        if writable != usual && !protect(place, writable) {
            return;
        }
        // SAFETY: it is an aligned word of the object, which is mapped and may be written now.
        unsafe { &*(place as *const AtomicUsize) }.store(word, Ordering::Release);
        if writable != usual {
            protect(place, usual);
        }
    }
}

/// The entries of a dynamic section that are read here.
fn entries(mut place: usize) -> Vec<Dynamic> {
    let mut entries = Vec::new();
    loop {
        let entry: Dynamic = at(place);
        match entry.tag {
            0 => return entries,
            ..=LARGEST | GNU_HASH => entries.push(entry),
            _ => {}
        }
        place += size_of::<Dynamic>();
    }
}

fn protection(header: &libc::Elf64_Phdr) -> c_int {
    [(libc::PF_R, libc::PROT_READ), (libc::PF_W, libc::PROT_WRITE), (libc::PF_X, libc::PROT_EXEC)]
        .into_iter()
        .filter(|(flag, _)| header.p_flags & flag != 0)
        .fold(0, |all, (_, protection)| all | protection)
}

fn page_size() -> usize {
    // SAFETY: it asks the system for a number.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// What the loader protects of a range: from the page in which it begins, without the one
/// in which it ends.
fn whole_pages(range: Range<usize>) -> Range<usize> {
    let page = !(page_size() - 1);
    range.start & page..range.end & page
}

/// Protects the page of an aligned word.
fn protect(place: usize, protection: c_int) -> bool {
    let size = page_size();
    let page = place & !(size - 1);
    // SAFETY: the page is an object's, and is still mapped.
    unsafe { libc::mprotect(page as *mut c_void, size, protection) == 0 }
}

/// GNU's hash of a name.
fn hash(name: &[u8]) -> u32 {
    name.iter().fold(5381, |hash: u32, byte| hash.wrapping_mul(33).wrapping_add(u32::from(*byte)))
}

impl Hashes {
    fn read(place: usize) -> Option<Self> {
        let [n_buckets, first, n_filter, shift] = at::<[u32; 4]>(place);
        let filter = place + size_of::<[u32; 4]>();
        let buckets = filter + n_filter as usize * size_of::<u64>();
        let chains = buckets + n_buckets as usize * size_of::<u32>();
        (n_buckets > 0 && n_filter > 0).then_some(Self {
            filter,
            n_filter,
            shift,
            buckets,
            n_buckets,
            chains,
            first,
        })
    }

    /// The symbols of that hash (its lowest bit aside).
    fn chain(&self, hash: u32) -> Option<impl Iterator<Item = Symbol>> {
        let filter: u64 = at(self.filter + (hash / u64::BITS % self.n_filter) as usize * size_of::<u64>());
        let mask = 1 << (hash % u64::BITS) | 1 << (hash.wrapping_shr(self.shift) % u64::BITS);
        let begin: u32 = at(self.buckets + (hash % self.n_buckets) as usize * size_of::<u32>());
        if filter & mask != mask || begin < self.first {
            return None;
        }
        let (chains, first) = (self.chains, self.first);
        let hash_of = move |symbol: u32| at::<u32>(chains + (symbol - first) as usize * size_of::<u32>());
        // The lowest bit of a hash is set where the chain ends.
        let all = std::iter::successors(Some(begin), move |symbol| {
            (hash_of(*symbol) & 1 == 0).then_some(symbol + 1)
        });
        Some(all.filter(move |symbol| hash_of(*symbol) | 1 == hash | 1).map(Symbol))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_and_redefined() {
        let objects = Object::all();
        let define = |name: &[u8]| {
            objects.iter().find_map(|object| object.defined(name).map(|symbol| (object, symbol)))
        };
        // SAFETY: the name ends with a zero.
        let default = |name: &CStr| unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
        let (libc, symbol) = define(b"l64a").expect("the C library has it");
        assert_eq!(libc.name(symbol), b"l64a");
        let before = default(c"l64a");
        assert_eq!(libc.address(symbol), before);
        assert!(define(b"l64a_of_nobody").is_none());

        libc.redefine(symbol, 8);
        assert_eq!(default(c"l64a"), 8);
        libc.redefine(symbol, before);
        assert_eq!(default(c"l64a"), before);
    }

    #[test]
    fn references_are_bound_to_what_the_loader_finds() {
        let objects = Object::all();
        let here = references_are_bound_to_what_the_loader_finds as *const () as usize;
        let own = objects.iter().find(|object| object.contains(here));
        let own = own.expect("this test is in an object");
        let name = c"dl_iterate_phdr";
        // SAFETY: the name ends with a zero.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
        let bound: Vec<usize> = own
            .references()
            .filter(|(_, symbol)| own.name(*symbol) == name.to_bytes())
            .map(|(slot, _)| own.word(slot))
            .collect();
        assert!(bound.contains(&address), "{bound:?}, not {address}");
    }
}

//! The loaded objects: which one an address is in.

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// A loaded object.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// Where its code begins and ends.
    pub(crate) code: std::ops::Range<usize>,
    /// Its load address, which is another in each run.
    pub(crate) base: usize,
    /// Empty where it has none.
    pub(crate) build_id: Vec<u8>,
    pub(crate) path: String,
    /// Whether it is the C library, in which programs and threads begin.
    pub(crate) is_libc: bool,
    /// Whether it is a library of MPI.
    pub(crate) is_mpi: bool,
    /// Its number in the recorder, once it has one.
    pub(crate) module: Option<u32>,
}

/// All loaded objects, as of some time.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    all: Vec<Object>,
    /// How many were loaded and unloaded until then.
    changes: (u64, u64),
}

impl Objects {
    /// The object that an address is in.
    pub(crate) fn find(&mut self, address: usize) -> Option<&mut Object> {
        let at = self.all.partition_point(|object| object.code.start <= address).checked_sub(1)?;
        self.all.get_mut(at).filter(|object| object.code.contains(&address))
    }

    /// Looks whether objects were loaded or unloaded.
    pub(crate) fn refresh(&mut self) {
        let changes = changes();
        if changes == self.changes && !self.all.is_empty() {
            return;
        }
        if changes.1 != self.changes.1 {
            GENERATION.fetch_add(1, Ordering::Relaxed);
        }
        self.all = loaded();
        self.changes = changes;
    }
}

/// Counts the times that objects were unloaded: an address may be another
/// function's now.
static GENERATION: AtomicU64 = AtomicU64::new(1);

#[inline]
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// The program's `dlclose` passes here: what is loaded in the object's place
/// may call MPI from the same addresses.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn dlclose(handle: *mut c_void) -> c_int {
    type Close = unsafe extern "C-unwind" fn(*mut c_void) -> c_int;
    // SAFETY: the name ends with a zero.
    let real = unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlclose".as_ptr()) };
    GENERATION.fetch_add(1, Ordering::Relaxed);
    if real.is_null() {
        return -1;
    }
    // SAFETY: that is what dlclose is.
    let close = unsafe { std::mem::transmute::<*mut c_void, Close>(real) };
    // SAFETY: the handle is the program's.
    unsafe { close(handle) }
}

/// How many objects were loaded and unloaded until now.
fn changes() -> (u64, u64) {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, counts: *mut c_void) -> c_int {
        // SAFETY: the loader gives a valid record.
        let info = unsafe { &*info };
        // SAFETY: it is the pair that was given below.
        unsafe { *counts.cast::<(u64, u64)>() = (info.dlpi_adds, info.dlpi_subs) };
        1
    }
    let mut counts = (0, 0);
    // SAFETY: `first` takes the pair that goes with it.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut counts).cast()) };
    counts
}

fn loaded() -> Vec<Object> {
    unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, all: *mut c_void) -> c_int {
        // SAFETY: the loader gives a valid record.
        let info = unsafe { &*info };
        // SAFETY: it is the vector that was given below.
        let all = unsafe { &mut *all.cast::<Vec<Object>>() };
        all.extend(object(info));
        0
    }
    let mut all: Vec<Object> = Vec::new();
    // SAFETY: `add` takes the vector that goes with it.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut all).cast()) };
    all.sort_by_key(|object| object.code.start);
    all
}

fn object(info: &libc::dl_phdr_info) -> Option<Object> {
    let base = info.dlpi_addr as usize;
    // SAFETY: the loader's headers are as many as it says.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let is_code =
        |header: &&libc::Elf64_Phdr| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0;
    let begin = |header: &libc::Elf64_Phdr| base + header.p_vaddr as usize;
    let end = |header: &libc::Elf64_Phdr| base + (header.p_vaddr + header.p_memsz) as usize;
    let code = headers.iter().filter(is_code);
    let code = code.clone().map(begin).min()?..code.map(end).max()?;
    let notes = headers.iter().filter(|header| header.p_type == libc::PT_NOTE);
    let build_id = notes.filter_map(|header| {
        // SAFETY: the loader has mapped the segment, which is of that length.
        let bytes =
            unsafe { std::slice::from_raw_parts(begin(header) as *const u8, header.p_memsz as usize) };
        build_id(bytes)
    });
    let build_id = build_id.map(<[u8]>::to_vec).next().unwrap_or_default();
    let path = path_of(info);
    let file = path.rsplit('/').next().unwrap_or_default();
    Some(Object {
        is_libc: ["libc.so", "libc-2", "libpthread", "ld-linux", "ld-2"].iter().any(|n| file.starts_with(n)),
        is_mpi: ["libmpi", "libpmpi"].iter().any(|name| file.starts_with(name)),
        code,
        base,
        build_id,
        path,
        module: None,
    })
}

/// The program itself has no name for the loader.
fn path_of(info: &libc::dl_phdr_info) -> String {
    let name = if info.dlpi_name.is_null() {
        String::new()
    } else {
        // SAFETY: the loader's names end with a zero.
        unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned()
    };
    if !name.is_empty() {
        return name;
    }
    std::fs::read_link("/proc/self/exe").map_or_else(|_| name, |path| path.to_string_lossy().into_owned())
}

/// The build id among the notes of a segment.
fn build_id(mut notes: &[u8]) -> Option<&[u8]> {
    const GNU_BUILD_ID: u32 = 3;
    let number = |bytes: &[u8], at: usize| -> Option<u32> {
        Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    };
    loop {
        let (name, content, kind) = (number(notes, 0)?, number(notes, 4)?, number(notes, 8)?);
        let begin = 12 + name.next_multiple_of(4) as usize;
        let end = begin + content as usize;
        if kind == GNU_BUILD_ID && notes.get(12..16) == Some(b"GNU\0") {
            return notes.get(begin..end);
        }
        notes = notes.get(end.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_function_is_in_an_object() {
        let mut objects = Objects::default();
        objects.refresh();
        let here = this_function_is_in_an_object as *const () as usize;
        let own = objects.find(here).expect("code is in an object");
        assert!(own.path.contains("likewise_preload"), "{}", own.path);
        assert!(objects.find(8).is_none());
    }

    #[test]
    fn build_ids_are_found_among_notes() {
        let note = |kind: u8, name: &[u8; 4], content: &[u8]| {
            let mut bytes = vec![4, 0, 0, 0, content.len() as u8, 0, 0, 0, kind, 0, 0, 0];
            bytes.extend(name);
            bytes.extend(content);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let notes = [note(1, b"abc\0", &[1; 5]), note(3, b"GNU\0", &[7; 20])].concat();
        assert_eq!(build_id(&notes), Some(&[7; 20][..]));
        assert_eq!(build_id(&notes[..20]), None);
    }
}

//! The objects that are loaded: the program and its libraries.

use std::ffi::{CStr, c_int, c_void};

/// A loaded object.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    /// Where its code lies.
    pub(crate) code: std::ops::Range<usize>,
    /// What to take from an address for the address in the file.
    pub(crate) base: usize,
    pub(crate) build_id: Vec<u8>,
    pub(crate) file: String,
}

impl Module {
    /// Whether it is the C library, which calls `main` and begins threads.
    pub(crate) fn is_libc(&self) -> bool {
        let name = self.file.rsplit('/').next().unwrap_or_default();
        ["libc.so", "libc-2", "ld-linux", "libpthread"].iter().any(|begin| name.starts_with(begin))
    }
}

/// All loaded objects that have code.
pub(crate) fn loaded() -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    // SAFETY: `add` takes the vector that goes with it.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut modules).cast()) };
    modules
}

unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _size: usize, modules: *mut c_void) -> c_int {
    // SAFETY: the loader gives a valid record, and the vector is the one given above.
    let (info, modules) = unsafe { (&*info, &mut *modules.cast::<Vec<Module>>()) };
    let base = info.dlpi_addr as usize;
    // SAFETY: the loader says how many headers there are.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let mut code = usize::MAX..0;
    let mut build_id = Vec::new();
    for header in headers {
        let (begin, size) = (base + header.p_vaddr as usize, header.p_memsz as usize);
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
            code = code.start.min(begin)..code.end.max(begin + size);
        } else if header.p_type == libc::PT_NOTE && build_id.is_empty() {
            // SAFETY: notes are loaded with the object and never written.
            let notes = unsafe { std::slice::from_raw_parts(begin as *const u8, size) };
            build_id = build_id_of(notes).unwrap_or_default();
        }
    }
    if code.end > 0 {
        modules.push(Module { code, base, build_id, file: file_of(info) });
    }
    0
}

/// The program itself has no name here.
fn file_of(info: &libc::dl_phdr_info) -> String {
    let name = if info.dlpi_name.is_null() {
        Default::default()
    } else {
        // SAFETY: the loader's names end with a zero.
        unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy()
    };
    if !name.is_empty() {
        return name.into_owned();
    }
    std::fs::read_link("/proc/self/exe")
        .map_or_else(|_| String::new(), |path| path.to_string_lossy().into_owned())
}

/// The GNU build id among notes: owner's and content's sizes, type 3, "GNU".
fn build_id_of(mut notes: &[u8]) -> Option<Vec<u8>> {
    let word =
        |bytes: &[u8], at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?) as usize);
    loop {
        let (owner, content, kind) = (word(notes, 0)?, word(notes, 4)?, word(notes, 8)?);
        let begin = 12 + owner.next_multiple_of(4);
        if kind == 3 && notes.get(12..16)? == b"GNU\0" {
            return Some(notes.get(begin..begin + content)?.to_vec());
        }
        notes = notes.get(begin + content.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_a_loaded_object() {
        let here = this_test_is_a_loaded_object as fn() as usize;
        let modules = loaded();
        let own = modules.iter().find(|module| module.code.contains(&here)).unwrap();
        assert_eq!(own.file, std::env::current_exe().unwrap().to_string_lossy());
        assert!(modules.iter().any(Module::is_libc));
    }

    #[test]
    fn notes_of_any_size_are_read() {
        let note = [4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, b'G', b'N', b'U', 0, 7, 9, 0, 0];
        let other = [4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, b'G', b'N', b'U', 0];
        assert_eq!(build_id_of(&[&other[..], &note].concat()), Some(vec![7, 9]));
        assert_eq!(build_id_of(&note[..15]), None);
        assert_eq!(build_id_of(&[255; 40]), None);
    }
}

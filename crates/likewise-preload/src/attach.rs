//! Puts stubs in the place of functions that this library does not export.
//!
//! Programs ask whether their MPI has a function that not every MPI has (by a weak
//! reference, or `dlsym`), and use another one if not. Others ask for
//! `MPI_Get_version` to learn whether they were linked with an MPI. An exported stub
//! would answer yes for an MPI that lacks the function; so the stubs of such calls are
//! not exported, and are attached to an MPI that is loaded and has the function:
//!
//! - In the table of the library's own symbols, the function's address becomes that of
//!   the stub. So all who look it up from then on get the stub: objects that are loaded
//!   later, calls that are bound when they are first made, and `dlsym`, also of this
//!   library alone.
//! - Where objects were bound before, their references to the function become the stub's.
//!
//! It is done when the process starts and again in `MPI_Init`, because an MPI may be loaded
//! between the two. What a program gets from `dlsym` in between leads past the recorder.

use crate::elf::Object;
use crate::stubs::{Attached, attached};
use crate::{Dialect, real};
use std::collections::HashMap;

/// A stub, and the function in whose place it stands.
struct Place {
    stub: usize,
    function: usize,
}

/// Attaches what is not attached yet.
pub(crate) fn attach() {
    let objects = Object::all();
    let own = objects.iter().position(|object| object.contains(attach as *const () as usize));
    // Tools that stand before this library call what comes after it, as with exported stubs.
    let Some((_, behind)) = own.and_then(|own| objects.split_at_checked(own + 1)) else { return };
    let mut places = HashMap::new();
    for stub in attached() {
        let Some(function) = replace(behind, stub) else { continue };
        places.insert(stub.symbol.as_bytes(), Place { stub: stub.stub as usize, function });
    }
    if places.is_empty() {
        return;
    }
    for object in &objects {
        rebind(object, &places);
    }
}

/// Makes the first symbol of that name lead to the stub, and returns what it led to. (A
/// second one is called by the first, if at all.)
fn replace(objects: &[Object], attached: &Attached) -> Option<usize> {
    let name = attached.symbol.as_bytes();
    let (object, symbol) =
        objects.iter().find_map(|object| object.defined(name).map(|symbol| (object, symbol)))?;
    let (function, stub) = (object.address(symbol), attached.stub as usize);
    if function == stub {
        return None;
    }
    let in_c = attached.dialect == Dialect::C;
    if !(in_c && object.defined(format!("P{}", attached.symbol).as_bytes()).is_some()) {
        // Looked up by this name later, it would be the stub. (In C it is `PMPI_Name`, if the
        // object has that.)
        real::know(attached.call, attached.dialect, function);
    }
    object.redefine(symbol, stub);
    Some(function)
}

/// Gives an object the stubs where it has the functions now.
fn rebind(object: &Object, places: &HashMap<&[u8], Place>) {
    for (slot, symbol) in object.references() {
        let name = object.name(symbol);
        if !name.starts_with(b"MPI_") && !name.starts_with(b"mpi_") {
            continue;
        }
        if let Some(place) = places.get(name)
            && object.word(slot) == place.function
        {
            object.write(slot, place.stub);
        }
    }
}

/// The process has started, with all objects that it is linked with.
extern "C" fn start() {
    if std::env::var_os("LIKEWISE_DIR").is_some_and(|folder| !folder.is_empty()) {
        let _ = std::panic::catch_unwind(attach);
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = start;

//! What a program calls instead of its MPI: for every call of the table
//! `MPI_Name`, `mpi_name_` and `mpi_name_f08_`.
//!
//! Most are exported, and stand before the MPI's in the order of the loader. But who
//! asks whether there is a function would be told yes by what is exported, so those of
//! the table that say `attached` are not (`attach` has more of it).
//!
//! A stub is not a function of Rust, because it must not care how many
//! arguments there are: it names itself by a number and jumps to `enter`,
//! which puts the six registers of arguments on the stack, where the stack's
//! own arguments are reached too, and calls the handler with their address.

use crate::Dialect;
use crate::handler::handle;
use likewise_recording::CallId;
use likewise_recording::calls::{N_CALLS, number};
use likewise_recording::for_each_call;
use std::arch::naked_asm;

/// A stub's number is the call's, plus this for each dialect.
pub(crate) const DIALECT: u32 = 1 << 16;

/// Saves the arguments, and says to unwinders where the caller is.
#[unsafe(naked)]
unsafe extern "C-unwind" fn enter() {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push r9",
        "push r8",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "mov rdi, rsp",
        "mov esi, r11d",
        "call {handle}",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
        handle = sym handle,
    )
}

/// Defines a function that names itself; each `attribute` says whether it is exported.
macro_rules! stub {
    ($name:ident, $dialect:literal, $(#[$attribute:meta])*) => {
        $(#[$attribute])*
        #[unsafe(naked)]
        unsafe extern "C-unwind" fn stub() {
            naked_asm!(
                "mov r11d, {number}",
                "jmp {enter}",
                number = const number::$name.0 as u32 + $dialect * DIALECT,
                enter = sym enter,
            )
        }
    };
}

/// A stub that is not exported: [`attach`](crate::attach::attach) puts it in the place of
/// the MPI's own function.
pub(crate) struct Attached {
    pub(crate) call: CallId,
    pub(crate) dialect: Dialect,
    pub(crate) symbol: &'static str,
    pub(crate) stub: unsafe extern "C-unwind" fn(),
}

macro_rules! line {
    (@export $symbol:expr, $name:ident, $dialect:literal) => {
        const _: () = {
            stub!($name, $dialect, #[unsafe(export_name = $symbol)]);
        };
    };
    (@attach $symbol:expr, $name:ident, $number:literal, $dialect:ident) => {{
        stub!($name, $number,);
        Attached { call: number::$name, dialect: Dialect::$dialect, symbol: $symbol, stub }
    }};
    ($name:ident $fortran:ident) => {{
        line!(@export concat!("MPI_", stringify!($name)), $name, 0);
        line!(@export concat!("mpi_", stringify!($fortran), "_"), $name, 1);
        line!(@export concat!("mpi_", stringify!($fortran), "_f08_"), $name, 2);
        &[]
    }};
    ($name:ident $fortran:ident attached) => {
        &[
            line!(@attach concat!("MPI_", stringify!($name)), $name, 0, C),
            line!(@attach concat!("mpi_", stringify!($fortran), "_"), $name, 1, Fortran),
            line!(@attach concat!("mpi_", stringify!($fortran), "_f08_"), $name, 2, Fortran2008),
        ]
    };
}

macro_rules! stubs {
    ($($name:ident $fortran:ident ($($role:ident)*) $($attached:ident)?;)*) => {
        /// Of each call, the stubs that are not exported.
        static ATTACHED: [&[Attached]; N_CALLS] = [$(line!($name $fortran $($attached)?)),*];
    };
}

for_each_call!(stubs);

/// All stubs that are not exported.
pub(crate) fn attached() -> impl Iterator<Item = &'static Attached> {
    ATTACHED.iter().copied().flatten()
}

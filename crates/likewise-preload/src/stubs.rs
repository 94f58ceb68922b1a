//! What a program calls instead of its MPI: for every call of the table
//! `MPI_Name`, `mpi_name_` and `mpi_name_f08_`.
//!
//! A stub is not a function of Rust, because it must not care how many
//! arguments there are: it names itself by a number and jumps to `enter`,
//! which puts the six registers of arguments on the stack, where the stack's
//! own arguments are reached too, and calls the handler with their address.

use crate::handler::handle;
use likewise_recording::calls::number;
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

macro_rules! stub {
    ($symbol:expr, $name:ident, $dialect:literal) => {
        const _: () = {
            #[unsafe(export_name = $symbol)]
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
    };
}

macro_rules! stubs {
    ($($name:ident $fortran:ident ($($role:ident)*);)*) => { $(
        stub!(concat!("MPI_", stringify!($name)), $name, 0);
        stub!(concat!("mpi_", stringify!($fortran), "_"), $name, 1);
        stub!(concat!("mpi_", stringify!($fortran), "_f08_"), $name, 2);
    )* };
}

for_each_call!(stubs);

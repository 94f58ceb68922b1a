//! The table of MPI calls: one line for each, from which the wrappers of the
//! preload library, the fields of an event, and the readers are made. `lines`
//! has them.

#[macro_use]
mod lines;

use crate::role::{Field, Kind, Role, fields_of};
use std::sync::OnceLock;

macro_rules! table {
    ($($name:ident $fortran:ident ($($role:ident)*) $($attached:ident)?;)*) => {
        /// How many calls the table has.
        pub const N_CALLS: usize = [$(stringify!($name)),*].len();

        static CALLS: [(&str, &[Role]); N_CALLS] = [$(
            (concat!("MPI_", stringify!($name)), &[$(Role::$role),*])
        ),*];

        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Number { $($name),* }

        /// The numbers of calls, by name.
        #[allow(non_upper_case_globals, missing_docs)]
        pub mod number {
            use super::{CallId, Number};
            $(pub const $name: CallId = CallId(Number::$name as u16);)*
        }
    };
}

for_each_call!(table);

/// A call of the table, by its number. Numbers change when the table does, so
/// files hold names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u16);

impl CallId {
    /// The call of that name, `MPI_` included.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        // The table is in the order of the names.
        CALLS.iter().position(|(known, _)| *known == name).map(|at| Self(at as u16))
    }

    /// Its name, `MPI_` included.
    #[must_use]
    pub fn name(self) -> &'static str {
        CALLS[self.0 as usize].0
    }

    /// The role of every argument.
    #[must_use]
    pub fn roles(self) -> &'static [Role] {
        CALLS[self.0 as usize].1
    }

    /// What an event of this call holds, in order.
    #[must_use]
    pub fn fields(self) -> &'static [Field] {
        static FIELDS: OnceLock<Vec<Vec<Field>>> = OnceLock::new();
        let all = FIELDS.get_or_init(|| CALLS.iter().map(|(_, roles)| fields_of(roles)).collect());
        &all[self.0 as usize]
    }
}

impl CallId {
    /// The call of the same arguments that a recording reads, of one that moves data and of
    /// which it reads none: those of large counts (`MPI_Send_c`) have counts of another width,
    /// and in those of partitioned communication a count is of each partition.
    #[must_use]
    pub fn not_read(self) -> Option<Self> {
        let name = self.name();
        let read = match name.strip_suffix("_c") {
            Some(plain) => Self::named(plain)?,
            None if name == "MPI_Psend_init" || name == "MPI_Precv_init" => return Some(self),
            None => return None,
        };
        let moves = |field: &Field| matches!(field.kind, Kind::Count | Kind::Ints);
        (self.fields().is_empty() && read.fields().iter().any(moves)).then_some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_by_name() {
        for number in 0..N_CALLS as u16 {
            assert_eq!(CallId::named(CallId(number).name()), Some(CallId(number)));
        }
        assert_eq!(number::Allreduce.name(), "MPI_Allreduce");
        assert_eq!(CallId::named("MPI_Nothing"), None);
    }

    #[test]
    fn calls_of_large_counts_are_not_read() {
        let not_read = |name| CallId::named(name).expect("a call").not_read().map(CallId::name);
        assert_eq!(not_read("MPI_Send_c"), Some("MPI_Send"));
        assert_eq!(not_read("MPI_Alltoallv_c"), Some("MPI_Alltoallv"));
        assert_eq!(not_read("MPI_Psend_init"), Some("MPI_Psend_init"));
        // These are read, or move nothing.
        for name in ["MPI_Send", "MPI_Init", "MPI_Type_contiguous_c", "MPI_Wait"] {
            assert_eq!(not_read(name), None, "{name}");
        }
    }

    #[test]
    fn fields_follow_the_roles() {
        let kinds = |call: CallId| call.fields().iter().map(|field| field.kind).collect::<Vec<_>>();
        use crate::role::Kind;
        assert_eq!(
            kinds(number::Recv),
            [
                Kind::Count,
                Kind::Type,
                Kind::Source,
                Kind::Tag,
                Kind::Comm,
                Kind::StatusSource,
                Kind::StatusTag
            ]
        );
        assert_eq!(kinds(number::Barrier), [Kind::Comm]);
    }
}

//! The fields of an event, by what they are.

use likewise_recording::CallId;
use likewise_recording::role::{Kind, Role};

/// The fields of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    pub(crate) call: CallId,
    values: &'a [i64],
}

impl<'a> Fields<'a> {
    pub(crate) fn new(call: CallId, values: &'a [i64]) -> Self {
        Self { call, values }
    }

    pub(crate) fn roles(self) -> &'static [Role] {
        self.call.roles()
    }

    pub(crate) fn values(self) -> &'a [i64] {
        self.values
    }

    fn find(self, wanted: impl Fn(Kind, usize) -> bool) -> Option<&'a [i64]> {
        let mut rest = self.values;
        for field in self.call.fields() {
            let (value, after) = match field.is_list {
                false => rest.split_at_checked(1)?,
                true => {
                    let (length, rest) = rest.split_first()?;
                    rest.split_at_checked(usize::try_from(*length).ok()?)?
                }
            };
            if wanted(field.kind, usize::from(field.argument)) {
                return Some(value);
            }
            rest = after;
        }
        None
    }

    /// The values that an argument made, first of all the first field.
    pub(crate) fn list_of(self, argument: usize) -> &'a [i64] {
        self.find(|_, made_of| made_of == argument).unwrap_or_default()
    }

    /// The value that an argument made; 0 if it made none.
    pub(crate) fn of(self, argument: usize) -> i64 {
        self.list_of(argument).first().copied().unwrap_or(0)
    }

    /// The values of the first field of that kind.
    pub(crate) fn list(self, kind: Kind) -> &'a [i64] {
        self.find(|known, _| known == kind).unwrap_or_default()
    }

    /// The first field of that kind.
    pub(crate) fn get(self, kind: Kind) -> Option<i64> {
        self.list(kind).first().copied()
    }

    /// The first argument of that role.
    pub(crate) fn argument(self, role: Role) -> Option<usize> {
        self.roles().iter().position(|known| *known == role)
    }

    pub(crate) fn has(self, role: Role) -> bool {
        self.argument(role).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_recording::calls::number;

    #[test]
    fn fields_are_found_by_argument_and_by_kind() {
        let values = [2, 4, 5, 0, -1, 1, 0, 7];
        let waitsome = Fields::new(number::Waitsome, &values[..]);
        // Count, requests, outcount, indices (none), statuses (none).
        let values = [2, 2, 4, 5, 1, 1, 0, 2, 3, 9];
        let waitsome = Fields { values: &values, ..waitsome };
        assert_eq!(waitsome.of(0), 2);
        assert_eq!(waitsome.list(Kind::Requests), [4, 5]);
        assert_eq!(waitsome.get(Kind::Outcount), Some(1));
        assert_eq!(waitsome.list(Kind::Indices), [0]);
        assert_eq!(waitsome.list(Kind::Statuses), [3, 9]);
        // What ends early has no more fields.
        let short = Fields { values: &values[..3], ..waitsome };
        assert!(short.list(Kind::Requests).is_empty());
    }
}

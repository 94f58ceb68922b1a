//! What the roles of a call mean for its recording, worked out once for each
//! call.

use likewise_recording::CallId;
use likewise_recording::calls::{N_CALLS, number};
use likewise_recording::role::Role;
use std::ops::Range;
use std::sync::OnceLock;

/// Calls with more arguments that matter are always decoded.
pub(crate) const MOST_COMPARED: usize = 10;

/// How an argument of two calls is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    /// As 32 bits.
    Int,
    /// As 64 bits.
    Long,
    /// As a handle.
    Handle,
    /// Whether it is `MPI_IN_PLACE`.
    InPlace,
}

/// Which arguments a rank need not give, because it takes no part in that side
/// of a collective call, or gave `MPI_IN_PLACE`: they may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sides {
    /// The buffer and the other arguments of what is sent.
    pub(crate) send: Option<(usize, Range<usize>)>,
    /// Those of what is received.
    pub(crate) receive: Option<(usize, Range<usize>)>,
    /// Whether only the root gives the former, or the latter.
    pub(crate) root_sends: bool,
    pub(crate) root_receives: bool,
}

/// What is known of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// The arguments that decide what is recorded; none if the call also
    /// records what it gave back.
    pub(crate) compared: Option<Vec<(u8, Compare)>>,
    /// Whether handles in memory must be read before the call.
    pub(crate) before: bool,
    /// Whether it frees an object.
    pub(crate) frees: bool,
    /// Whether it waits for requests or tests them.
    pub(crate) completes: bool,
    pub(crate) status: Option<usize>,
    /// Whether there are several statuses.
    pub(crate) several: bool,
    pub(crate) source: Option<usize>,
    /// The tag that goes with the source.
    pub(crate) tag: Option<usize>,
    pub(crate) comm: Option<usize>,
    pub(crate) win: Option<usize>,
    pub(crate) root: Option<usize>,
    pub(crate) flag: Option<usize>,
    pub(crate) index: Option<usize>,
    pub(crate) outcount: Option<usize>,
    pub(crate) indices: Option<usize>,
    pub(crate) sides: Sides,
}

/// The plan of a call.
pub(crate) fn plan(call: CallId) -> &'static Plan {
    static PLANS: OnceLock<Vec<Plan>> = OnceLock::new();
    &PLANS.get_or_init(|| (0..N_CALLS as u16).map(|call| Plan::of(CallId(call))).collect())
        [usize::from(call.0)]
}

impl Plan {
    fn of(call: CallId) -> Self {
        let roles = call.roles();
        let first = |role: Role| roles.iter().position(|other| *other == role);
        let source = first(Role::Source);
        let sides = sides(call);
        Self {
            compared: compared(roles, &sides),
            before: roles.iter().any(|role| is_read_before(*role)),
            frees: roles.iter().any(|role| frees(*role)),
            completes: first(Role::Request).is_some() || first(Role::Requests).is_some(),
            status: first(Role::Status).or_else(|| first(Role::Statuses)),
            several: first(Role::Statuses).is_some(),
            tag: source.and_then(|at| (at..roles.len()).find(|at| roles[*at] == Role::Tag)),
            source,
            comm: first(Role::Comm),
            win: first(Role::Win),
            root: first(Role::Root),
            flag: first(Role::Flag),
            index: first(Role::Index),
            outcount: first(Role::Outcount),
            indices: first(Role::Indices),
            sides,
        }
    }
}

fn frees(role: Role) -> bool {
    use Role::*;
    matches!(
        role,
        FreeComm
            | FreeType
            | FreeGroup
            | FreeOp
            | FreeWin
            | FreeFile
            | FreeInfo
            | FreeErrhandler
            | FreeMessage
    )
}

fn is_read_before(role: Role) -> bool {
    use Role::*;
    frees(role) || matches!(role, Request | FreeRequest | Start | Requests | Starts)
}

fn compared(roles: &[Role], sides: &Sides) -> Option<Vec<(u8, Compare)>> {
    use Role::*;
    let receives = roles.contains(&Source);
    let completes = roles.iter().any(|role| matches!(role, Request | Requests));
    let mut all = Vec::new();
    for (at, role) in roles.iter().enumerate() {
        let how = match role {
            Skip => continue,
            // What a receive heard is recorded only if it could hear several.
            Status if !completes => continue,
            Int | Count | Dest | Source | Target | Tag | Root => Compare::Int,
            Aint => Compare::Long,
            Type | Comm | Op | Group | Win | File | Info | Errhandler => Compare::Handle,
            _ => return None,
        };
        all.push((at as u8, how));
    }
    debug_assert!(!receives || !completes, "no call both receives and completes");
    let buffers = [&sides.send, &sides.receive].into_iter().flatten();
    all.extend(buffers.map(|(buffer, _)| (*buffer as u8, Compare::InPlace)));
    (all.len() <= MOST_COMPARED).then_some(all)
}

/// The name without what makes it nonblocking, persistent or of neighbours.
fn base_name(call: CallId) -> String {
    let name = call.name().trim_start_matches("MPI_").trim_end_matches("_init").to_lowercase();
    match name.strip_prefix('i') {
        Some(rest) if ["gather", "scatter", "allgather", "alltoall"].iter().any(|n| rest.starts_with(n)) => {
            rest.to_owned()
        }
        _ => name,
    }
}

fn sides(call: CallId) -> Sides {
    let (send, receive) = match base_name(call).as_str() {
        "gather" => (Some((0, 1..3)), Some((3, 4..6))),
        "gatherv" => (Some((0, 1..3)), Some((3, 4..7))),
        "scatter" => (Some((0, 1..3)), Some((3, 4..6))),
        "scatterv" => (Some((0, 1..4)), Some((4, 5..7))),
        "allgather" | "allgatherv" | "alltoall" => (Some((0, 1..3)), None),
        "alltoallv" | "alltoallw" => (Some((0, 1..4)), None),
        _ => (None, None),
    };
    let is = |name: &str| base_name(call).starts_with(name);
    Sides { send, receive, root_sends: is("scatter"), root_receives: is("gather") }
}

/// Whether the lists of a call count the ranks of the own group, where others
/// count those of the remote one.
pub(crate) fn counts_own_group(call: CallId) -> bool {
    [number::Reduce_scatter, number::Ireduce_scatter, number::Reduce_scatter_init].contains(&call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_an_event_is_compared() {
        let compared = |call| plan(call).compared.clone().map(|all| all.len());
        assert_eq!(compared(number::Allreduce), Some(4));
        assert_eq!(compared(number::Recv), Some(5));
        assert_eq!(compared(number::Isend), None);
        assert_eq!(compared(number::Wait), None);
        assert_eq!(compared(number::Barrier), Some(1));
        assert_eq!(compared(number::Gather), Some(8));
    }

    #[test]
    fn sides_are_those_of_the_standard() {
        for name in ["MPI_Scatterv", "MPI_Iscatterv", "MPI_Scatterv_init"] {
            let sides = &plan(CallId::named(name).unwrap()).sides;
            assert_eq!((sides.send.clone(), sides.receive.clone()), (Some((0, 1..4)), Some((4, 5..7))));
            assert!(sides.root_sends && !sides.root_receives);
        }
        assert_eq!(plan(number::Neighbor_alltoall).sides, Sides::default());
        assert_eq!(plan(number::Igather).sides.receive, Some((3, 4..6)));
    }
}

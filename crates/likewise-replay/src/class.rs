//! What a replay does with each call.

use likewise_recording::CallId;
use likewise_recording::calls::N_CALLS;
use std::sync::LazyLock;

/// What a replay does with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Re-issued as it is, by the roles of its arguments.
    Plain,
    /// Finds a message: `MPI_Probe` and its kin.
    Probe,
    /// Completes requests, or asks whether they are done.
    Completion,
    /// Starts persistent requests.
    Start,
    /// Makes a communicator.
    Communicator,
    /// Makes or frees a window, or works on one.
    Window,
    /// Attaches or detaches the buffer of `MPI_Bsend`.
    Buffer,
    /// `MPI_Init` and `MPI_Finalize`: a replay has its own.
    Ends,
    /// Not re-issued; the time that it took is.
    TimeOnly(Reason),
    /// Other ranks would wait for it, and it cannot be re-issued.
    Refused,
}

/// Why a call is not re-issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// It works on a file.
    File,
    /// Messages are sent as bytes, so that nobody needs datatypes.
    Datatype,
    /// It asks or sets what no other rank sees.
    Local,
    /// A request or a message that the program made up itself.
    Generalized,
    /// It works on memory whose address was not recorded.
    DynamicWindow,
    /// Its arguments say that it had failed.
    Failed,
    /// It found nothing, and as many such calls as the program made would
    /// take longer than they did.
    InVain,
    /// Another rank lacks the other side of it.
    Unmatched,
}

impl Reason {
    /// In a sentence: "not re-issued: …".
    #[must_use]
    pub fn told(self) -> &'static str {
        match self {
            Self::File => "calls on files",
            Self::Datatype => "datatypes and packing (messages are sent as bytes)",
            Self::Local => "calls that no other rank sees",
            Self::Generalized => "requests of the program's own making",
            Self::DynamicWindow => "calls on dynamic windows (addresses are not recorded)",
            Self::Failed => "calls that had failed",
            Self::InVain => "calls that had found nothing, and for which there was no time",
            Self::Unmatched => "messages and collectives that other ranks, which stand behind leads, lack",
        }
    }
}

const COMMUNICATORS: [&str; 16] = [
    "Cart_create",
    "Cart_sub",
    "Comm_create",
    "Comm_create_group",
    "Comm_dup",
    "Comm_dup_with_info",
    "Comm_get_parent",
    "Comm_idup",
    "Comm_idup_with_info",
    "Comm_split",
    "Comm_split_type",
    "Dist_graph_create",
    "Dist_graph_create_adjacent",
    "Graph_create",
    "Intercomm_create",
    "Intercomm_merge",
];

/// Calls by which processes meet that are not of the job, sessions, and
/// partitioned communication; of the last two only names are recorded.
const REFUSED: [&str; 16] = [
    "Abort",
    "Comm_accept",
    "Comm_connect",
    "Comm_create_from_group",
    "Comm_join",
    "Comm_spawn",
    "Comm_spawn_multiple",
    "Group_from_session_pset",
    "Intercomm_create_from_groups",
    "Parrived",
    "Pready",
    "Pready_list",
    "Pready_range",
    "Precv_init",
    "Psend_init",
    "Session_init",
];

/// Windows and what works on them.
const WINDOWS: [&str; 32] = [
    "Accumulate",
    "Compare_and_swap",
    "Fetch_and_op",
    "Get",
    "Get_accumulate",
    "Put",
    "Raccumulate",
    "Rget",
    "Rget_accumulate",
    "Rput",
    "Win_allocate",
    "Win_allocate_shared",
    "Win_complete",
    "Win_create",
    "Win_create_dynamic",
    "Win_fence",
    "Win_flush",
    "Win_flush_all",
    "Win_flush_local",
    "Win_flush_local_all",
    "Win_free",
    "Win_get_group",
    "Win_lock",
    "Win_lock_all",
    "Win_post",
    "Win_start",
    "Win_sync",
    "Win_test",
    "Win_unlock",
    "Win_unlock_all",
    "Win_wait",
    "Win_shared_query",
];

const PLAIN: [&str; 58] = [
    "Allgather",
    "Allgatherv",
    "Allreduce",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Barrier",
    "Bcast",
    "Bsend",
    "Cancel",
    "Comm_disconnect",
    "Comm_free",
    "Comm_group",
    "Comm_remote_group",
    "Exscan",
    "Gather",
    "Gatherv",
    "Group_difference",
    "Group_excl",
    "Group_free",
    "Group_incl",
    "Group_intersection",
    "Group_range_excl",
    "Group_range_incl",
    "Group_union",
    "Ibsend",
    "Imrecv",
    "Irecv",
    "Irsend",
    "Isend",
    "Isendrecv",
    "Isendrecv_replace",
    "Issend",
    "Mrecv",
    "Neighbor_allgather",
    "Neighbor_allgatherv",
    "Neighbor_alltoall",
    "Neighbor_alltoallv",
    "Neighbor_alltoallw",
    "Recv",
    "Reduce",
    "Reduce_local",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Request_free",
    "Rsend",
    "Scan",
    "Scatter",
    "Scatterv",
    "Send",
    "Sendrecv",
    "Sendrecv_replace",
    "Ssend",
    "Recv_init",
    "Send_init",
    "Ssend_init",
    "Bsend_init",
    "Rsend_init",
];

/// A call without `I` before it and `_init` after it: what a nonblocking or a
/// persistent collective is of.
pub(crate) fn base(call: CallId) -> &'static str {
    KNOWN[usize::from(call.0)].1
}

/// Of every call, what is found out by its name.
static KNOWN: LazyLock<Vec<(Class, &'static str)>> = LazyLock::new(|| {
    (0..N_CALLS as u16).map(|call| (find_class(CallId(call)), find_base(CallId(call)))).collect()
});

fn find_base(call: CallId) -> &'static str {
    let name = &call.name()["MPI_".len()..];
    let of_persistent = name.strip_suffix("_init").filter(|base| is_collective(base));
    if let Some(base) = of_persistent {
        return base;
    }
    // `Ineighbor_alltoall` is of `Neighbor_alltoall`.
    let of_nonblocking = PLAIN.iter().find(|base| {
        is_collective(base) && name.strip_prefix('I').is_some_and(|rest| rest.eq_ignore_ascii_case(base))
    });
    of_nonblocking.copied().unwrap_or(name)
}

pub(crate) fn is_collective(base: &str) -> bool {
    ["All", "Barrier", "Bcast", "Exscan", "Gather", "Neighbor", "Reduce", "Scan", "Scatter"]
        .iter()
        .any(|start| base.starts_with(start))
        && base != "Reduce_local"
}

/// What a replay does with a call.
pub(crate) fn class(call: CallId) -> Class {
    KNOWN[usize::from(call.0)].0
}

fn find_class(call: CallId) -> Class {
    let name = &call.name()["MPI_".len()..];
    let starts = |list: &[&str]| list.iter().any(|start| name.starts_with(start));
    if ["Init", "Init_thread", "Finalize"].contains(&name) {
        Class::Ends
    } else if starts(&["File_", "Register_datarep"]) {
        Class::TimeOnly(Reason::File)
    } else if starts(&["Type_", "Pack", "Unpack", "Get_count", "Get_elements", "Status_set", "Address"]) {
        Class::TimeOnly(Reason::Datatype)
    } else if starts(&["Grequest_"]) {
        Class::TimeOnly(Reason::Generalized)
    } else if REFUSED.contains(&name) || (name.ends_with("_c") && !starts(&["Op_", "Buffer_"])) {
        Class::Refused
    } else if COMMUNICATORS.contains(&name) {
        Class::Communicator
    } else if WINDOWS.contains(&name) {
        Class::Window
    } else if ["Iprobe", "Probe", "Improbe", "Mprobe"].contains(&name) {
        Class::Probe
    } else if ["Start", "Startall"].contains(&name) {
        Class::Start
    } else if starts(&["Wait", "Test", "Request_get_status"]) && name != "Test_cancelled" {
        Class::Completion
    } else if ["Buffer_attach", "Buffer_detach"].contains(&name) {
        Class::Buffer
    } else if PLAIN.contains(&find_base(call)) {
        Class::Plain
    } else {
        Class::TimeOnly(Reason::Local)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_recording::calls::number;
    use likewise_recording::role::Role;

    #[test]
    fn calls_are_what_their_names_say() {
        assert_eq!(class(number::Iallreduce), Class::Plain);
        assert_eq!(class(number::Neighbor_alltoallw_init), Class::Plain);
        assert_eq!(base(number::Ineighbor_alltoallv), "Neighbor_alltoallv");
        assert_eq!(base(number::Send_init), "Send_init");
        assert_eq!(base(number::Isend), "Isend");
        assert_eq!(class(number::Testsome), Class::Completion);
        assert_eq!(class(number::Test_cancelled), Class::TimeOnly(Reason::Local));
        assert_eq!(class(number::Send_c), Class::Refused);
        assert_eq!(class(number::File_write_all), Class::TimeOnly(Reason::File));
        assert_eq!(class(number::Comm_rank), Class::TimeOnly(Reason::Local));
    }

    #[test]
    fn no_name_of_a_list_is_misspelt() {
        let names = COMMUNICATORS.iter().chain(&REFUSED).chain(&WINDOWS).chain(&PLAIN);
        for name in names {
            assert!(CallId::named(&format!("MPI_{name}")).is_some(), "{name}");
        }
    }

    #[test]
    fn what_concerns_others_is_re_issued_or_refused() {
        // Whoever waits for what such a call makes or ends would wait for ever.
        let concerns = [Role::Dest, Role::Source, Role::NewComm, Role::FreeComm, Role::Start, Role::Starts];
        for number in 0..N_CALLS as u16 {
            let call = CallId(number);
            if call.roles().iter().any(|role| concerns.contains(role)) {
                assert!(!matches!(class(call), Class::TimeOnly(_)), "{}", call.name());
            }
        }
    }
}

//! The numbers that Extrae gives to MPI calls in a Paraver trace.

use likewise_recording::CallId;
use likewise_recording::role::Role;

/// Point-to-point calls.
pub(super) const POINT_TO_POINT: u32 = 50_000_001;
/// Collective operations.
pub(super) const COLLECTIVE: u32 = 50_000_002;
/// Calls of all other kinds.
pub(super) const OTHER: u32 = 50_000_003;
/// One-sided communication.
pub(super) const ONE_SIDED: u32 = 50_000_004;
/// Files.
pub(super) const FILES: u32 = 50_000_005;

/// These types with their labels.
pub(super) const TYPES: [(u32, &str); 5] = [
    (POINT_TO_POINT, "MPI Point-to-point"),
    (COLLECTIVE, "MPI Collective Comm"),
    (OTHER, "MPI Other"),
    (ONE_SIDED, "MPI One-sided"),
    (FILES, "MPI I/O"),
];

/// Calls that Extrae does not know have these numbers and up.
const UNKNOWN: u32 = 1_000;

/// The calls that Extrae 5.1 knows, in the order of its numbers, from 1.
const KNOWN: [&str; 215] = [
    "Send",
    "Recv",
    "Isend",
    "Irecv",
    "Wait",
    "Waitall",
    "Bcast",
    "Barrier",
    "Reduce",
    "Allreduce",
    "Alltoall",
    "Alltoallv",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Comm_rank",
    "Comm_size",
    "Comm_create",
    "Comm_dup",
    "Comm_split",
    "Comm_group",
    "Comm_free",
    "Comm_remote_group",
    "Comm_remote_size",
    "Comm_test_inter",
    "Comm_compare",
    "Scan",
    "Init",
    "Finalize",
    "Bsend",
    "Ssend",
    "Rsend",
    "Ibsend",
    "Issend",
    "Irsend",
    "Test",
    "Cancel",
    "Sendrecv",
    "Sendrecv_replace",
    "Cart_create",
    "Cart_shift",
    "Cart_coords",
    "Cart_get",
    "Cart_map",
    "Cart_rank",
    "Cart_sub",
    "Cartdim_get",
    "Dims_create",
    "Graph_get",
    "Graph_map",
    "Graph_create",
    "Graph_neighbors",
    "Graphdims_get",
    "Graph_neighbors_count",
    "Topo_test",
    "Waitany",
    "Waitsome",
    "Probe",
    "Iprobe",
    "Win_create",
    "Win_free",
    "Put",
    "Get",
    "Accumulate",
    "Win_fence",
    "Win_start",
    "Win_complete",
    "Win_post",
    "Win_wait",
    "Win_test",
    "Win_lock",
    "Win_unlock",
    "Pack",
    "Unpack",
    "Op_create",
    "Op_free",
    "Reduce_scatter",
    "Attr_delete",
    "Attr_get",
    "Attr_put",
    "Group_difference",
    "Group_excl",
    "Group_free",
    "Group_incl",
    "Group_intersection",
    "Group_rank",
    "Group_range_excl",
    "Group_range_incl",
    "Group_size",
    "Group_translate_ranks",
    "Group_union",
    "Group_compare",
    "Intercomm_create",
    "Intercomm_merge",
    "Keyval_free",
    "Keyval_create",
    "Abort",
    "Error_class",
    "Errhandler_create",
    "Errhandler_free",
    "Errhandler_get",
    "Error_string",
    "Errhandler_set",
    "Get_processor_name",
    "Initialized",
    "Wtick",
    "Wtime",
    "Address",
    "Bsend_init",
    "Buffer_attach",
    "Buffer_detach",
    "Request_free",
    "Recv_init",
    "Send_init",
    "Get_count",
    "Get_elements",
    "Pack_size",
    "Rsend_init",
    "Ssend_init",
    "Start",
    "Startall",
    "Testall",
    "Testany",
    "Test_cancelled",
    "Testsome",
    "Type_commit",
    "Type_contiguous",
    "Type_extent",
    "Type_free",
    "Type_hindexed",
    "Type_hvector",
    "Type_indexed",
    "Type_lb",
    "Type_size",
    "Type_struct",
    "Type_ub",
    "Type_vector",
    "File_open",
    "File_close",
    "File_read",
    "File_read_all",
    "File_write",
    "File_write_all",
    "File_read_at",
    "File_read_at_all",
    "File_write_at",
    "File_write_at_all",
    "Comm_spawn",
    "Comm_spawn_multiple",
    "Request_get_status",
    "Ireduce",
    "Iallreduce",
    "Ibarrier",
    "Ibcast",
    "Ialltoall",
    "Ialltoallv",
    "Iallgather",
    "Iallgatherv",
    "Igather",
    "Igatherv",
    "Iscatter",
    "Iscatterv",
    "Ireduce_scatter",
    "Iscan",
    "Reduce_scatter_block",
    "Ireduce_scatter_block",
    "Alltoallw",
    "Ialltoallw",
    "Get_accumulate",
    "Dist_graph_create",
    "Neighbor_allgather",
    "Ineighbor_allgather",
    "Neighbor_allgatherv",
    "Ineighbor_allgatherv",
    "Neighbor_alltoall",
    "Ineighbor_alltoall",
    "Neighbor_alltoallv",
    "Ineighbor_alltoallv",
    "Neighbor_alltoallw",
    "Ineighbor_alltoallw",
    "Fetch_and_op",
    "Compare_and_swap",
    "Win_flush",
    "Win_flush_all",
    "Win_flush_local",
    "Win_flush_local_all",
    "Mprobe",
    "Improbe",
    "Mrecv",
    "Imrecv",
    "Comm_split_type",
    "File_write_all_begin",
    "File_write_all_end",
    "File_read_all_begin",
    "File_read_all_end",
    "File_write_at_all_begin",
    "File_write_at_all_end",
    "File_read_at_all_begin",
    "File_read_at_all_end",
    "File_read_ordered",
    "File_read_ordered_begin",
    "File_read_ordered_end",
    "File_read_shared",
    "File_write_ordered",
    "File_write_ordered_begin",
    "File_write_ordered_end",
    "File_write_shared",
    "Comm_dup_with_info",
    "Dist_graph_create_adjacent",
    "Comm_create_group",
    "Exscan",
    "Iexscan",
];

const COLLECTIVES: [&str; 15] = [
    "Barrier",
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Reduce",
    "Allreduce",
    "Scan",
    "Exscan",
];

/// Event type and value of a call.
pub(super) fn number(call: CallId) -> (u32, u32) {
    let name = short(call);
    let known = KNOWN.iter().position(|known| *known == name);
    let value = known.map_or(UNKNOWN + u32::from(call.0), |at| at as u32 + 1);
    (event_type(call, name), value)
}

fn short(call: CallId) -> &'static str {
    call.name().strip_prefix("MPI_").unwrap_or(call.name())
}

fn event_type(call: CallId, name: &str) -> u32 {
    let has = |role| call.roles().contains(&role);
    if name.starts_with("File_") {
        return FILES;
    }
    if name.starts_with("Win_") || has(Role::Target) {
        return ONE_SIDED;
    }
    if is_collective(call) {
        return COLLECTIVE;
    }
    let completes = name.starts_with("Wait") || ["Cancel", "Mrecv", "Imrecv"].contains(&name);
    if completes || has(Role::Dest) || has(Role::Source) { POINT_TO_POINT } else { OTHER }
}

/// Whether it is a collective operation, with or without waiting. (One that
/// only prepares it, `MPI_Bcast_init`, is none.)
pub(super) fn is_collective(call: CallId) -> bool {
    let is = |name: &str| {
        let large = name.strip_suffix("_c").unwrap_or(name);
        let near =
            large.strip_prefix("Neighbor_").or_else(|| large.strip_prefix("neighbor_")).unwrap_or(large);
        let begins_small = near.starts_with(|c: char| c.is_ascii_lowercase());
        COLLECTIVES.iter().any(|known| match begins_small {
            true => near.eq_ignore_ascii_case(known),
            false => near == *known,
        }) || near.to_ascii_lowercase().starts_with("reduce_scatter") && !near.ends_with("_init")
    };
    let name = short(call);
    is(name)
        || name
            .strip_prefix('I')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()) && is(rest))
}

/// What Extrae calls the state of a thread in a call.
pub(super) fn state(call: CallId) -> u32 {
    let name = short(call);
    match event_type(call, name) {
        FILES => 12,
        ONE_SIDED => 25,
        COLLECTIVE if name.starts_with("Barrier") => 5,
        COLLECTIVE => 13,
        _ if name.starts_with("Wait") => 8,
        _ if name.starts_with("Test") || name.contains("robe") => 6,
        POINT_TO_POINT => match (call.roles().contains(&Role::Dest), call.roles().contains(&Role::Source)) {
            (true, true) => 16,
            (true, false) if name.starts_with('I') => 10,
            (true, false) => 4,
            (false, true) if name.starts_with('I') => 11,
            _ => 3,
        },
        _ => 15,
    }
}

/// The states that [`state`] gives, and Running: name and colour.
pub(super) const STATES: [(u32, &str, [u8; 3]); 14] = [
    (0, "Idle", [117, 195, 255]),
    (1, "Running", [0, 0, 255]),
    (3, "Waiting a message", [255, 0, 0]),
    (4, "Blocking Send", [255, 0, 174]),
    (5, "Synchronization", [179, 0, 0]),
    (6, "Test/Probe", [0, 255, 0]),
    (8, "Wait/WaitAll", [235, 0, 0]),
    (10, "Immediate Send", [255, 0, 255]),
    (11, "Immediate Receive", [100, 100, 177]),
    (12, "I/O", [172, 174, 41]),
    (13, "Group Communication", [255, 144, 26]),
    (15, "Others", [192, 224, 0]),
    (16, "Send Receive", [66, 66, 66]),
    (25, "One-sided op", [116, 116, 116]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_recording::calls::number as calls;

    #[test]
    fn calls_have_the_numbers_of_extrae() {
        for (call, expected) in [
            (calls::Send, (POINT_TO_POINT, 1)),
            (calls::Waitall, (POINT_TO_POINT, 6)),
            (calls::Allreduce, (COLLECTIVE, 10)),
            (calls::Scan, (COLLECTIVE, 30)),
            (calls::Init, (OTHER, 31)),
            (calls::Comm_split, (OTHER, 23)),
            (calls::Test, (OTHER, 39)),
            (calls::Iexscan, (COLLECTIVE, 215)),
            (calls::Ineighbor_alltoallv, (COLLECTIVE, 181)),
            (calls::Reduce_scatter_block, (COLLECTIVE, 168)),
            (calls::Put, (ONE_SIDED, 65)),
            (calls::File_open, (FILES, 141)),
        ] {
            assert_eq!(number(call), expected, "{}", call.name());
        }
        assert_eq!(number(calls::Bcast_init).0, OTHER);
        assert_eq!(number(calls::Init_thread), (OTHER, UNKNOWN + u32::from(calls::Init_thread.0)));
    }

    #[test]
    fn every_state_has_a_name() {
        for number in 0..likewise_recording::calls::N_CALLS as u16 {
            let state = state(CallId(number));
            assert!(STATES.iter().any(|known| known.0 == state), "{}", CallId(number).name());
        }
    }
}

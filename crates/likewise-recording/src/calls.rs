//! The table of MPI calls: one line for each, from which the wrappers of the
//! preload library, the fields of an event, and the readers are made.
//!
//! A line is: the name without `MPI_`, the same as Fortran writes it, and the
//! role of every argument in order. A call of which all roles are `Skip` is
//! recorded by name, call path and time alone.

use crate::role::{Field, Role, fields_of};
use std::sync::OnceLock;

/// Gives the table of calls to a macro.
#[macro_export]
macro_rules! for_each_call {
    ($then:ident) => {
        $then! {
            Abort abort (Comm Int);
            Accumulate accumulate (Skip Count Type Target Aint Int Type Op Win);
            Accumulate_c accumulate_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Add_error_class add_error_class (Skip);
            Add_error_code add_error_code (Int Skip);
            Add_error_string add_error_string (Int Skip);
            Address address (Skip Skip);
            Allgather allgather (Skip Count Type Skip Count Type Comm);
            Allgather_c allgather_c (Skip Skip Skip Skip Skip Skip Skip);
            Allgather_init allgather_init (Skip Count Type Skip Count Type Comm Info NewPersistent);
            Allgather_init_c allgather_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Allgatherv allgatherv (Skip Count Type Skip IntsComm IntsComm Type Comm);
            Allgatherv_c allgatherv_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Allgatherv_init allgatherv_init (Skip Count Type Skip IntsComm IntsComm Type Comm Info NewPersistent);
            Allgatherv_init_c allgatherv_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Alloc_mem alloc_mem (Aint Info Skip);
            Allreduce allreduce (Skip Skip Count Type Op Comm);
            Allreduce_c allreduce_c (Skip Skip Skip Skip Skip Skip);
            Allreduce_init allreduce_init (Skip Skip Count Type Op Comm Info NewPersistent);
            Allreduce_init_c allreduce_init_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Alltoall alltoall (Skip Count Type Skip Count Type Comm);
            Alltoall_c alltoall_c (Skip Skip Skip Skip Skip Skip Skip);
            Alltoall_init alltoall_init (Skip Count Type Skip Count Type Comm Info NewPersistent);
            Alltoall_init_c alltoall_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Alltoallv alltoallv (Skip IntsComm IntsComm Type Skip IntsComm IntsComm Type Comm);
            Alltoallv_c alltoallv_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Alltoallv_init alltoallv_init (Skip IntsComm IntsComm Type Skip IntsComm IntsComm Type Comm Info NewPersistent);
            Alltoallv_init_c alltoallv_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Alltoallw alltoallw (Skip IntsComm IntsComm TypesSend Skip IntsComm IntsComm TypesRecv Comm);
            Alltoallw_c alltoallw_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Alltoallw_init alltoallw_init (Skip IntsComm IntsComm TypesSend Skip IntsComm IntsComm TypesRecv Comm Info NewPersistent);
            Alltoallw_init_c alltoallw_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Attr_delete attr_delete (Comm Int);
            Attr_get attr_get (Comm Int Skip Skip);
            Attr_put attr_put (Comm Int Skip);
            Barrier barrier (Comm);
            Barrier_init barrier_init (Comm Info NewPersistent);
            Bcast bcast (Skip Count Type Root Comm);
            Bcast_c bcast_c (Skip Skip Skip Skip Skip);
            Bcast_init bcast_init (Skip Count Type Root Comm Info NewPersistent);
            Bcast_init_c bcast_init_c (Skip Skip Skip Skip Skip Skip Skip);
            Bsend bsend (Skip Count Type Dest Tag Comm);
            Bsend_c bsend_c (Skip Skip Skip Skip Skip Skip);
            Bsend_init bsend_init (Skip Count Type Dest Tag Comm NewPersistent);
            Bsend_init_c bsend_init_c (Skip Skip Skip Skip Skip Skip Skip);
            Buffer_attach buffer_attach (Skip Int);
            Buffer_attach_c buffer_attach_c (Skip Skip);
            Buffer_detach buffer_detach (Skip Skip);
            Buffer_detach_c buffer_detach_c (Skip Skip);
            Cancel cancel (Request);
            Cart_coords cart_coords (Comm Int Int Skip);
            Cart_create cart_create (Comm Int IntsOf1 IntsOf1 Int NewComm);
            Cart_get cart_get (Comm Int Skip Skip Skip);
            Cart_map cart_map (Comm Int IntsOf1 IntsOf1 Skip);
            Cart_rank cart_rank (Comm Skip Skip);
            Cart_shift cart_shift (Comm Int Int Skip Skip);
            Cart_sub cart_sub (Comm IntsDims NewComm);
            Cartdim_get cartdim_get (Comm Skip);
            Close_port close_port (Skip);
            Comm_accept comm_accept (Skip Info Root Comm NewComm);
            Comm_call_errhandler comm_call_errhandler (Comm Int);
            Comm_compare comm_compare (Comm Comm Skip);
            Comm_connect comm_connect (Skip Info Root Comm NewComm);
            Comm_create comm_create (Comm Group NewComm);
            Comm_create_errhandler comm_create_errhandler (Skip NewErrhandler);
            Comm_create_from_group comm_create_from_group (Group Skip Info Errhandler NewComm);
            Comm_create_group comm_create_group (Comm Group Tag NewComm);
            Comm_create_keyval comm_create_keyval (Skip Skip Skip Skip);
            Comm_delete_attr comm_delete_attr (Comm Int);
            Comm_disconnect comm_disconnect (FreeComm);
            Comm_dup comm_dup (Comm NewComm);
            Comm_dup_with_info comm_dup_with_info (Comm Info NewComm);
            Comm_free comm_free (FreeComm);
            Comm_free_keyval comm_free_keyval (Skip);
            Comm_get_attr comm_get_attr (Comm Int Skip Skip);
            Comm_get_errhandler comm_get_errhandler (Comm NewErrhandler);
            Comm_get_info comm_get_info (Comm NewInfo);
            Comm_get_name comm_get_name (Comm Skip Skip);
            Comm_get_parent comm_get_parent (NewComm);
            Comm_group comm_group (Comm NewGroup);
            Comm_idup comm_idup (Comm NewComm NewRequest);
            Comm_idup_with_info comm_idup_with_info (Comm Info NewComm NewRequest);
            Comm_join comm_join (Int NewComm);
            Comm_rank comm_rank (Comm Skip);
            Comm_remote_group comm_remote_group (Comm NewGroup);
            Comm_remote_size comm_remote_size (Comm Skip);
            Comm_set_attr comm_set_attr (Comm Int Skip);
            Comm_set_errhandler comm_set_errhandler (Comm Errhandler);
            Comm_set_info comm_set_info (Comm Info);
            Comm_set_name comm_set_name (Comm Skip);
            Comm_size comm_size (Comm Skip);
            Comm_spawn comm_spawn (Skip Skip Int Info Root Comm NewComm Skip);
            Comm_spawn_multiple comm_spawn_multiple (Int Skip Skip Skip Skip Root Comm NewComm Skip);
            Comm_split comm_split (Comm Int Int NewComm);
            Comm_split_type comm_split_type (Comm Int Int Info NewComm);
            Comm_test_inter comm_test_inter (Comm Skip);
            Compare_and_swap compare_and_swap (Skip Skip Skip Type Target Aint Win);
            Dims_create dims_create (Int Int Skip);
            Dist_graph_create dist_graph_create (Comm Int IntsOf1 IntsOf1 GraphTargets Skip Info Int NewComm);
            Dist_graph_create_adjacent dist_graph_create_adjacent (Comm Int IntsOf1 Skip Int IntsOf4 Skip Info Int NewComm);
            Dist_graph_neighbors dist_graph_neighbors (Comm Int Skip Skip Int Skip Skip);
            Dist_graph_neighbors_count dist_graph_neighbors_count (Comm Skip Skip Skip);
            Errhandler_create errhandler_create (Skip NewErrhandler);
            Errhandler_free errhandler_free (FreeErrhandler);
            Errhandler_get errhandler_get (Comm NewErrhandler);
            Errhandler_set errhandler_set (Comm Errhandler);
            Error_class error_class (Int Skip);
            Error_string error_string (Int Skip Skip);
            Exscan exscan (Skip Skip Count Type Op Comm);
            Exscan_c exscan_c (Skip Skip Skip Skip Skip Skip);
            Exscan_init exscan_init (Skip Skip Count Type Op Comm Info NewPersistent);
            Exscan_init_c exscan_init_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Fetch_and_op fetch_and_op (Skip Skip Type Target Aint Op Win);
            File_call_errhandler file_call_errhandler (File Int);
            File_close file_close (FreeFile);
            File_create_errhandler file_create_errhandler (Skip NewErrhandler);
            File_delete file_delete (Str Info);
            File_get_amode file_get_amode (File Skip);
            File_get_atomicity file_get_atomicity (File Skip);
            File_get_byte_offset file_get_byte_offset (File Aint Skip);
            File_get_errhandler file_get_errhandler (File NewErrhandler);
            File_get_group file_get_group (File NewGroup);
            File_get_info file_get_info (File NewInfo);
            File_get_position file_get_position (File Skip);
            File_get_position_shared file_get_position_shared (File Skip);
            File_get_size file_get_size (File Skip);
            File_get_type_extent file_get_type_extent (File Type Skip);
            File_get_view file_get_view (File Skip Skip Skip Skip);
            File_iread file_iread (File Skip Count Type NewRequest);
            File_iread_all file_iread_all (File Skip Count Type NewRequest);
            File_iread_at file_iread_at (File Aint Skip Count Type NewRequest);
            File_iread_at_all file_iread_at_all (File Aint Skip Count Type NewRequest);
            File_iread_shared file_iread_shared (File Skip Count Type NewRequest);
            File_iwrite file_iwrite (File Skip Count Type NewRequest);
            File_iwrite_all file_iwrite_all (File Skip Count Type NewRequest);
            File_iwrite_at file_iwrite_at (File Aint Skip Count Type NewRequest);
            File_iwrite_at_all file_iwrite_at_all (File Aint Skip Count Type NewRequest);
            File_iwrite_shared file_iwrite_shared (File Skip Count Type NewRequest);
            File_open file_open (Comm Str Int Info NewFile);
            File_preallocate file_preallocate (File Aint);
            File_read file_read (File Skip Count Type Status);
            File_read_all file_read_all (File Skip Count Type Status);
            File_read_all_begin file_read_all_begin (File Skip Count Type);
            File_read_all_end file_read_all_end (File Skip Status);
            File_read_at file_read_at (File Aint Skip Count Type Status);
            File_read_at_all file_read_at_all (File Aint Skip Count Type Status);
            File_read_at_all_begin file_read_at_all_begin (File Aint Skip Count Type);
            File_read_at_all_end file_read_at_all_end (File Skip Status);
            File_read_ordered file_read_ordered (File Skip Count Type Status);
            File_read_ordered_begin file_read_ordered_begin (File Skip Count Type);
            File_read_ordered_end file_read_ordered_end (File Skip Status);
            File_read_shared file_read_shared (File Skip Count Type Status);
            File_seek file_seek (File Aint Int);
            File_seek_shared file_seek_shared (File Aint Int);
            File_set_atomicity file_set_atomicity (File Int);
            File_set_errhandler file_set_errhandler (File Errhandler);
            File_set_info file_set_info (File Info);
            File_set_size file_set_size (File Aint);
            File_set_view file_set_view (File Aint Type Type Skip Info);
            File_sync file_sync (File);
            File_write file_write (File Skip Count Type Status);
            File_write_all file_write_all (File Skip Count Type Status);
            File_write_all_begin file_write_all_begin (File Skip Count Type);
            File_write_all_end file_write_all_end (File Skip Status);
            File_write_at file_write_at (File Aint Skip Count Type Status);
            File_write_at_all file_write_at_all (File Aint Skip Count Type Status);
            File_write_at_all_begin file_write_at_all_begin (File Aint Skip Count Type);
            File_write_at_all_end file_write_at_all_end (File Skip Status);
            File_write_ordered file_write_ordered (File Skip Count Type Status);
            File_write_ordered_begin file_write_ordered_begin (File Skip Count Type);
            File_write_ordered_end file_write_ordered_end (File Skip Status);
            File_write_shared file_write_shared (File Skip Count Type Status);
            Finalize finalize ();
            Finalized finalized (Skip);
            Free_mem free_mem (Skip);
            Gather gather (Skip Count Type Skip Count Type Root Comm);
            Gather_c gather_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Gather_init gather_init (Skip Count Type Skip Count Type Root Comm Info NewPersistent);
            Gather_init_c gather_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Gatherv gatherv (Skip Count Type Skip IntsRoot IntsRoot Type Root Comm);
            Gatherv_c gatherv_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Gatherv_init gatherv_init (Skip Count Type Skip IntsRoot IntsRoot Type Root Comm Info NewPersistent);
            Gatherv_init_c gatherv_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Get get (Skip Count Type Target Aint Int Type Win);
            Get_accumulate get_accumulate (Skip Count Type Skip Int Type Target Aint Int Type Op Win);
            Get_accumulate_c get_accumulate_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Get_address get_address (Skip Skip);
            Get_c get_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Get_count get_count (Skip Type Skip);
            Get_count_c get_count_c (Skip Skip Skip);
            Get_elements get_elements (Skip Type Skip);
            Get_elements_c get_elements_c (Skip Skip Skip);
            Get_elements_x get_elements_x (Skip Type Skip);
            Get_library_version get_library_version (Skip Skip);
            Get_processor_name get_processor_name (Skip Skip);
            Get_version get_version (Skip Skip);
            Graph_create graph_create (Comm Int IntsOf1 GraphEdges Int NewComm);
            Graph_get graph_get (Comm Int Int Skip Skip);
            Graph_map graph_map (Comm Int Skip Skip Skip);
            Graph_neighbors graph_neighbors (Comm Int Int Skip);
            Graph_neighbors_count graph_neighbors_count (Comm Int Skip);
            Graphdims_get graphdims_get (Comm Skip Skip);
            Grequest_complete grequest_complete (Request);
            Grequest_start grequest_start (Skip Skip Skip Skip NewRequest);
            Group_compare group_compare (Group Group Skip);
            Group_difference group_difference (Group Group NewGroup);
            Group_excl group_excl (Group Int IntsOf1 NewGroup);
            Group_free group_free (FreeGroup);
            Group_from_session_pset group_from_session_pset (Skip Skip NewGroup);
            Group_incl group_incl (Group Int IntsOf1 NewGroup);
            Group_intersection group_intersection (Group Group NewGroup);
            Group_range_excl group_range_excl (Group Int RangesOf1 NewGroup);
            Group_range_incl group_range_incl (Group Int RangesOf1 NewGroup);
            Group_rank group_rank (Group Skip);
            Group_size group_size (Group Skip);
            Group_translate_ranks group_translate_ranks (Group Int Skip Group Skip);
            Group_union group_union (Group Group NewGroup);
            Iallgather iallgather (Skip Count Type Skip Count Type Comm NewRequest);
            Iallgather_c iallgather_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Iallgatherv iallgatherv (Skip Count Type Skip IntsComm IntsComm Type Comm NewRequest);
            Iallgatherv_c iallgatherv_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Iallreduce iallreduce (Skip Skip Count Type Op Comm NewRequest);
            Iallreduce_c iallreduce_c (Skip Skip Skip Skip Skip Skip Skip);
            Ialltoall ialltoall (Skip Count Type Skip Count Type Comm NewRequest);
            Ialltoall_c ialltoall_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Ialltoallv ialltoallv (Skip IntsComm IntsComm Type Skip IntsComm IntsComm Type Comm NewRequest);
            Ialltoallv_c ialltoallv_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Ialltoallw ialltoallw (Skip IntsComm IntsComm TypesSend Skip IntsComm IntsComm TypesRecv Comm NewRequest);
            Ialltoallw_c ialltoallw_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Ibarrier ibarrier (Comm NewRequest);
            Ibcast ibcast (Skip Count Type Root Comm NewRequest);
            Ibcast_c ibcast_c (Skip Skip Skip Skip Skip Skip);
            Ibsend ibsend (Skip Count Type Dest Tag Comm NewRequest);
            Ibsend_c ibsend_c (Skip Skip Skip Skip Skip Skip Skip);
            Iexscan iexscan (Skip Skip Count Type Op Comm NewRequest);
            Iexscan_c iexscan_c (Skip Skip Skip Skip Skip Skip Skip);
            Igather igather (Skip Count Type Skip Count Type Root Comm NewRequest);
            Igather_c igather_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Igatherv igatherv (Skip Count Type Skip IntsRoot IntsRoot Type Root Comm NewRequest);
            Igatherv_c igatherv_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Improbe improbe (Source Tag Comm Flag NewMessage Status);
            Imrecv imrecv (Skip Count Type FreeMessage NewRequest);
            Imrecv_c imrecv_c (Skip Skip Skip Skip Skip);
            Ineighbor_allgather ineighbor_allgather (Skip Count Type Skip Count Type Comm NewRequest);
            Ineighbor_allgather_c ineighbor_allgather_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Ineighbor_allgatherv ineighbor_allgatherv (Skip Count Type Skip IntsIn IntsIn Type Comm NewRequest);
            Ineighbor_allgatherv_c ineighbor_allgatherv_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Ineighbor_alltoall ineighbor_alltoall (Skip Count Type Skip Count Type Comm NewRequest);
            Ineighbor_alltoall_c ineighbor_alltoall_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Ineighbor_alltoallv ineighbor_alltoallv (Skip IntsOut IntsOut Type Skip IntsIn IntsIn Type Comm NewRequest);
            Ineighbor_alltoallv_c ineighbor_alltoallv_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Ineighbor_alltoallw ineighbor_alltoallw (Skip IntsOut AintsOut TypesOut Skip IntsIn AintsIn TypesIn Comm NewRequest);
            Ineighbor_alltoallw_c ineighbor_alltoallw_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Info_create info_create (NewInfo);
            Info_create_env info_create_env (Int Skip NewInfo);
            Info_delete info_delete (Info Skip);
            Info_dup info_dup (Info NewInfo);
            Info_free info_free (FreeInfo);
            Info_get info_get (Info Skip Int Skip Skip);
            Info_get_nkeys info_get_nkeys (Info Skip);
            Info_get_nthkey info_get_nthkey (Info Int Skip);
            Info_get_string info_get_string (Info Skip Skip Skip Skip);
            Info_get_valuelen info_get_valuelen (Info Skip Skip Skip);
            Info_set info_set (Info Skip Skip);
            Init init (Skip Skip);
            Init_thread init_thread (Skip Skip Int Skip);
            Initialized initialized (Skip);
            Intercomm_create intercomm_create (Comm Int Comm Int Tag NewComm);
            Intercomm_create_from_groups intercomm_create_from_groups (Group Int Group Int Skip Info Errhandler NewComm);
            Intercomm_merge intercomm_merge (Comm Int NewComm);
            Iprobe iprobe (Source Tag Comm Flag Status);
            Irecv irecv (Skip Count Type Source Tag Comm NewRequest);
            Irecv_c irecv_c (Skip Skip Skip Skip Skip Skip Skip);
            Ireduce ireduce (Skip Skip Count Type Op Root Comm NewRequest);
            Ireduce_c ireduce_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Ireduce_scatter ireduce_scatter (Skip Skip IntsComm Type Op Comm NewRequest);
            Ireduce_scatter_block ireduce_scatter_block (Skip Skip Count Type Op Comm NewRequest);
            Ireduce_scatter_block_c ireduce_scatter_block_c (Skip Skip Skip Skip Skip Skip Skip);
            Ireduce_scatter_c ireduce_scatter_c (Skip Skip Skip Skip Skip Skip Skip);
            Irsend irsend (Skip Count Type Dest Tag Comm NewRequest);
            Irsend_c irsend_c (Skip Skip Skip Skip Skip Skip Skip);
            Is_thread_main is_thread_main (Skip);
            Iscan iscan (Skip Skip Count Type Op Comm NewRequest);
            Iscan_c iscan_c (Skip Skip Skip Skip Skip Skip Skip);
            Iscatter iscatter (Skip Count Type Skip Count Type Root Comm NewRequest);
            Iscatter_c iscatter_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Iscatterv iscatterv (Skip IntsRoot IntsRoot Type Skip Count Type Root Comm NewRequest);
            Iscatterv_c iscatterv_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Isend isend (Skip Count Type Dest Tag Comm NewRequest);
            Isend_c isend_c (Skip Skip Skip Skip Skip Skip Skip);
            Isendrecv isendrecv (Skip Count Type Dest Tag Skip Count Type Source Tag Comm NewRequest);
            Isendrecv_c isendrecv_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Isendrecv_replace isendrecv_replace (Skip Count Type Dest Tag Source Tag Comm NewRequest);
            Isendrecv_replace_c isendrecv_replace_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Issend issend (Skip Count Type Dest Tag Comm NewRequest);
            Issend_c issend_c (Skip Skip Skip Skip Skip Skip Skip);
            Keyval_create keyval_create (Skip Skip Skip Skip);
            Keyval_free keyval_free (Skip);
            Lookup_name lookup_name (Skip Info Skip);
            Mprobe mprobe (Source Tag Comm NewMessage Status);
            Mrecv mrecv (Skip Count Type FreeMessage Status);
            Mrecv_c mrecv_c (Skip Skip Skip Skip Skip);
            Neighbor_allgather neighbor_allgather (Skip Count Type Skip Count Type Comm);
            Neighbor_allgather_c neighbor_allgather_c (Skip Skip Skip Skip Skip Skip Skip);
            Neighbor_allgather_init neighbor_allgather_init (Skip Count Type Skip Count Type Comm Info NewPersistent);
            Neighbor_allgather_init_c neighbor_allgather_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Neighbor_allgatherv neighbor_allgatherv (Skip Count Type Skip IntsIn IntsIn Type Comm);
            Neighbor_allgatherv_c neighbor_allgatherv_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Neighbor_allgatherv_init neighbor_allgatherv_init (Skip Count Type Skip IntsIn IntsIn Type Comm Info NewPersistent);
            Neighbor_allgatherv_init_c neighbor_allgatherv_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Neighbor_alltoall neighbor_alltoall (Skip Count Type Skip Count Type Comm);
            Neighbor_alltoall_c neighbor_alltoall_c (Skip Skip Skip Skip Skip Skip Skip);
            Neighbor_alltoall_init neighbor_alltoall_init (Skip Count Type Skip Count Type Comm Info NewPersistent);
            Neighbor_alltoall_init_c neighbor_alltoall_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Neighbor_alltoallv neighbor_alltoallv (Skip IntsOut IntsOut Type Skip IntsIn IntsIn Type Comm);
            Neighbor_alltoallv_c neighbor_alltoallv_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Neighbor_alltoallv_init neighbor_alltoallv_init (Skip IntsOut IntsOut Type Skip IntsIn IntsIn Type Comm Info NewPersistent);
            Neighbor_alltoallv_init_c neighbor_alltoallv_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Neighbor_alltoallw neighbor_alltoallw (Skip IntsOut AintsOut TypesOut Skip IntsIn AintsIn TypesIn Comm);
            Neighbor_alltoallw_c neighbor_alltoallw_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Neighbor_alltoallw_init neighbor_alltoallw_init (Skip IntsOut AintsOut TypesOut Skip IntsIn AintsIn TypesIn Comm Info NewPersistent);
            Neighbor_alltoallw_init_c neighbor_alltoallw_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Op_commutative op_commutative (Op Skip);
            Op_create op_create (Skip Int NewOp);
            Op_create_c op_create_c (Skip Skip Skip);
            Op_free op_free (FreeOp);
            Open_port open_port (Info Skip);
            Pack pack (Skip Int Type Skip Int Skip Comm);
            Pack_c pack_c (Skip Skip Skip Skip Skip Skip Skip);
            Pack_external pack_external (Skip Skip Int Type Skip Aint Skip);
            Pack_external_c pack_external_c (Skip Skip Skip Skip Skip Skip Skip);
            Pack_external_size pack_external_size (Skip Int Type Skip);
            Pack_external_size_c pack_external_size_c (Skip Skip Skip Skip);
            Pack_size pack_size (Int Type Comm Skip);
            Pack_size_c pack_size_c (Skip Skip Skip Skip);
            Parrived parrived (Request Int Skip);
            Pcontrol pcontrol (Int Skip Skip Skip Skip Skip);
            Pready pready (Int Request);
            Pready_list pready_list (Int Skip Request);
            Pready_range pready_range (Int Int Request);
            Precv_init precv_init (Skip Int Aint Type Dest Tag Comm Info NewPersistent);
            Probe probe (Source Tag Comm Status);
            Psend_init psend_init (Skip Int Aint Type Dest Tag Comm Info NewPersistent);
            Publish_name publish_name (Skip Info Skip);
            Put put (Skip Count Type Target Aint Int Type Win);
            Put_c put_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Query_thread query_thread (Skip);
            Raccumulate raccumulate (Skip Count Type Target Aint Int Type Op Win NewRequest);
            Raccumulate_c raccumulate_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Recv recv (Skip Count Type Source Tag Comm Status);
            Recv_c recv_c (Skip Skip Skip Skip Skip Skip Skip);
            Recv_init recv_init (Skip Count Type Source Tag Comm NewPersistent);
            Recv_init_c recv_init_c (Skip Skip Skip Skip Skip Skip Skip);
            Reduce reduce (Skip Skip Count Type Op Root Comm);
            Reduce_c reduce_c (Skip Skip Skip Skip Skip Skip Skip);
            Reduce_init reduce_init (Skip Skip Count Type Op Root Comm Info NewPersistent);
            Reduce_init_c reduce_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Reduce_local reduce_local (Skip Skip Count Type Op);
            Reduce_local_c reduce_local_c (Skip Skip Skip Skip Skip);
            Reduce_scatter reduce_scatter (Skip Skip IntsComm Type Op Comm);
            Reduce_scatter_block reduce_scatter_block (Skip Skip Count Type Op Comm);
            Reduce_scatter_block_c reduce_scatter_block_c (Skip Skip Skip Skip Skip Skip);
            Reduce_scatter_block_init reduce_scatter_block_init (Skip Skip Count Type Op Comm Info NewPersistent);
            Reduce_scatter_block_init_c reduce_scatter_block_init_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Reduce_scatter_c reduce_scatter_c (Skip Skip Skip Skip Skip Skip);
            Reduce_scatter_init reduce_scatter_init (Skip Skip IntsComm Type Op Comm Info NewPersistent);
            Reduce_scatter_init_c reduce_scatter_init_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Register_datarep register_datarep (Skip Skip Skip Skip Skip);
            Request_free request_free (FreeRequest);
            Request_get_status request_get_status (Request Flag Status);
            Rget rget (Skip Count Type Target Aint Int Type Win NewRequest);
            Rget_accumulate rget_accumulate (Skip Count Type Skip Int Type Target Aint Int Type Op Win NewRequest);
            Rget_accumulate_c rget_accumulate_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Rget_c rget_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Rput rput (Skip Count Type Target Aint Int Type Win NewRequest);
            Rput_c rput_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Rsend rsend (Skip Count Type Dest Tag Comm);
            Rsend_c rsend_c (Skip Skip Skip Skip Skip Skip);
            Rsend_init rsend_init (Skip Count Type Dest Tag Comm NewPersistent);
            Rsend_init_c rsend_init_c (Skip Skip Skip Skip Skip Skip Skip);
            Scan scan (Skip Skip Count Type Op Comm);
            Scan_c scan_c (Skip Skip Skip Skip Skip Skip);
            Scan_init scan_init (Skip Skip Count Type Op Comm Info NewPersistent);
            Scan_init_c scan_init_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Scatter scatter (Skip Count Type Skip Count Type Root Comm);
            Scatter_c scatter_c (Skip Skip Skip Skip Skip Skip Skip Skip);
            Scatter_init scatter_init (Skip Count Type Skip Count Type Root Comm Info NewPersistent);
            Scatter_init_c scatter_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Scatterv scatterv (Skip IntsRoot IntsRoot Type Skip Count Type Root Comm);
            Scatterv_c scatterv_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Scatterv_init scatterv_init (Skip IntsRoot IntsRoot Type Skip Count Type Root Comm Info NewPersistent);
            Scatterv_init_c scatterv_init_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Send send (Skip Count Type Dest Tag Comm);
            Send_c send_c (Skip Skip Skip Skip Skip Skip);
            Send_init send_init (Skip Count Type Dest Tag Comm NewPersistent);
            Send_init_c send_init_c (Skip Skip Skip Skip Skip Skip Skip);
            Sendrecv sendrecv (Skip Count Type Dest Tag Skip Count Type Source Tag Comm Status);
            Sendrecv_c sendrecv_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Sendrecv_replace sendrecv_replace (Skip Count Type Dest Tag Source Tag Comm Status);
            Sendrecv_replace_c sendrecv_replace_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Session_call_errhandler session_call_errhandler (Skip Skip);
            Session_create_errhandler session_create_errhandler (Skip Skip);
            Session_finalize session_finalize (Skip);
            Session_get_errhandler session_get_errhandler (Skip Skip);
            Session_get_info session_get_info (Skip Skip);
            Session_get_nth_pset session_get_nth_pset (Skip Skip Skip Skip Skip);
            Session_get_num_psets session_get_num_psets (Skip Skip Skip);
            Session_get_pset_info session_get_pset_info (Skip Skip Skip);
            Session_init session_init (Skip Skip Skip);
            Session_set_errhandler session_set_errhandler (Skip Skip);
            Ssend ssend (Skip Count Type Dest Tag Comm);
            Ssend_c ssend_c (Skip Skip Skip Skip Skip Skip);
            Ssend_init ssend_init (Skip Count Type Dest Tag Comm NewPersistent);
            Ssend_init_c ssend_init_c (Skip Skip Skip Skip Skip Skip Skip);
            Start start (Start);
            Startall startall (Int Starts);
            Status_set_cancelled status_set_cancelled (Skip Int);
            Status_set_elements status_set_elements (Skip Type Count);
            Status_set_elements_x status_set_elements_x (Skip Type Aint);
            T_category_changed t_category_changed (Skip);
            T_category_get_categories t_category_get_categories (Skip Skip Skip);
            T_category_get_cvars t_category_get_cvars (Skip Skip Skip);
            T_category_get_events t_category_get_events (Skip Skip Skip);
            T_category_get_index t_category_get_index (Skip Skip);
            T_category_get_info t_category_get_info (Skip Skip Skip Skip Skip Skip Skip Skip);
            T_category_get_num t_category_get_num (Skip);
            T_category_get_num_events t_category_get_num_events (Skip Skip);
            T_category_get_pvars t_category_get_pvars (Skip Skip Skip);
            T_cvar_get_index t_cvar_get_index (Skip Skip);
            T_cvar_get_info t_cvar_get_info (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            T_cvar_get_num t_cvar_get_num (Skip);
            T_cvar_handle_alloc t_cvar_handle_alloc (Skip Skip Skip Skip);
            T_cvar_handle_free t_cvar_handle_free (Skip);
            T_cvar_read t_cvar_read (Skip Skip);
            T_cvar_write t_cvar_write (Skip Skip);
            T_enum_get_info t_enum_get_info (Skip Skip Skip Skip);
            T_enum_get_item t_enum_get_item (Skip Skip Skip Skip Skip);
            T_event_callback_get_info t_event_callback_get_info (Skip Skip Skip);
            T_event_callback_set_info t_event_callback_set_info (Skip Skip Skip);
            T_event_copy t_event_copy (Skip Skip);
            T_event_get_index t_event_get_index (Skip Skip);
            T_event_get_info t_event_get_info (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            T_event_get_num t_event_get_num (Skip);
            T_event_get_source t_event_get_source (Skip Skip);
            T_event_get_timestamp t_event_get_timestamp (Skip Skip);
            T_event_handle_alloc t_event_handle_alloc (Skip Skip Skip Skip);
            T_event_handle_free t_event_handle_free (Skip Skip Skip);
            T_event_handle_get_info t_event_handle_get_info (Skip Skip);
            T_event_handle_set_info t_event_handle_set_info (Skip Skip);
            T_event_read t_event_read (Skip Skip Skip);
            T_event_register_callback t_event_register_callback (Skip Skip Skip Skip Skip);
            T_event_set_dropped_handler t_event_set_dropped_handler (Skip Skip);
            T_finalize t_finalize ();
            T_init_thread t_init_thread (Skip Skip);
            T_pvar_get_index t_pvar_get_index (Skip Skip Skip);
            T_pvar_get_info t_pvar_get_info (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            T_pvar_get_num t_pvar_get_num (Skip);
            T_pvar_handle_alloc t_pvar_handle_alloc (Skip Skip Skip Skip Skip);
            T_pvar_handle_free t_pvar_handle_free (Skip Skip);
            T_pvar_read t_pvar_read (Skip Skip Skip);
            T_pvar_readreset t_pvar_readreset (Skip Skip Skip);
            T_pvar_reset t_pvar_reset (Skip Skip);
            T_pvar_session_create t_pvar_session_create (Skip);
            T_pvar_session_free t_pvar_session_free (Skip);
            T_pvar_start t_pvar_start (Skip Skip);
            T_pvar_stop t_pvar_stop (Skip Skip);
            T_pvar_write t_pvar_write (Skip Skip Skip);
            T_source_get_info t_source_get_info (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            T_source_get_num t_source_get_num (Skip);
            T_source_get_timestamp t_source_get_timestamp (Skip Skip);
            Test test (Request Flag Status);
            Test_cancelled test_cancelled (Skip Skip);
            Testall testall (Int Requests Flag Statuses);
            Testany testany (Int Requests Index Flag Status);
            Testsome testsome (Int Requests Outcount Indices Statuses);
            Topo_test topo_test (Comm Skip);
            Type_commit type_commit (TypeAt);
            Type_contiguous type_contiguous (Int Type NewType);
            Type_contiguous_c type_contiguous_c (Skip Skip Skip);
            Type_create_darray type_create_darray (Int Int Int IntsOf2 IntsOf2 IntsOf2 IntsOf2 Int Type NewType);
            Type_create_darray_c type_create_darray_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Type_create_f90_complex type_create_f90_complex (Int Int NewType);
            Type_create_f90_integer type_create_f90_integer (Int NewType);
            Type_create_f90_real type_create_f90_real (Int Int NewType);
            Type_create_hindexed type_create_hindexed (Int IntsOf0 AintsOf0 Type NewType);
            Type_create_hindexed_block type_create_hindexed_block (Int Int AintsOf0 Type NewType);
            Type_create_hindexed_block_c type_create_hindexed_block_c (Skip Skip Skip Skip Skip);
            Type_create_hindexed_c type_create_hindexed_c (Skip Skip Skip Skip Skip);
            Type_create_hvector type_create_hvector (Int Int Aint Type NewType);
            Type_create_hvector_c type_create_hvector_c (Skip Skip Skip Skip Skip);
            Type_create_indexed_block type_create_indexed_block (Int Int IntsOf0 Type NewType);
            Type_create_indexed_block_c type_create_indexed_block_c (Skip Skip Skip Skip Skip);
            Type_create_keyval type_create_keyval (Skip Skip Skip Skip);
            Type_create_resized type_create_resized (Type Aint Aint NewType);
            Type_create_resized_c type_create_resized_c (Skip Skip Skip Skip);
            Type_create_struct type_create_struct (Int IntsOf0 AintsOf0 TypesOf0 NewType);
            Type_create_struct_c type_create_struct_c (Skip Skip Skip Skip Skip);
            Type_create_subarray type_create_subarray (Int IntsOf0 IntsOf0 IntsOf0 Int Type NewType);
            Type_create_subarray_c type_create_subarray_c (Skip Skip Skip Skip Skip Skip Skip);
            Type_delete_attr type_delete_attr (Type Int);
            Type_dup type_dup (Type NewType);
            Type_extent type_extent (Type Skip);
            Type_free type_free (FreeType);
            Type_free_keyval type_free_keyval (Skip);
            Type_get_attr type_get_attr (Type Int Skip Skip);
            Type_get_contents type_get_contents (Type Int Int Int Skip Skip Skip);
            Type_get_contents_c type_get_contents_c (Skip Skip Skip Skip Skip Skip Skip Skip Skip);
            Type_get_envelope type_get_envelope (Type Skip Skip Skip Skip);
            Type_get_envelope_c type_get_envelope_c (Skip Skip Skip Skip Skip Skip);
            Type_get_extent type_get_extent (Type Skip Skip);
            Type_get_extent_c type_get_extent_c (Skip Skip Skip);
            Type_get_extent_x type_get_extent_x (Type Skip Skip);
            Type_get_name type_get_name (Type Skip Skip);
            Type_get_true_extent type_get_true_extent (Type Skip Skip);
            Type_get_true_extent_c type_get_true_extent_c (Skip Skip Skip);
            Type_get_true_extent_x type_get_true_extent_x (Type Skip Skip);
            Type_hindexed type_hindexed (Int IntsOf0 Skip Type NewType);
            Type_hvector type_hvector (Int Int Aint Type NewType);
            Type_indexed type_indexed (Int IntsOf0 IntsOf0 Type NewType);
            Type_indexed_c type_indexed_c (Skip Skip Skip Skip Skip);
            Type_lb type_lb (Type Skip);
            Type_match_size type_match_size (Int Int NewType);
            Type_set_attr type_set_attr (Type Int Skip);
            Type_set_name type_set_name (Type Skip);
            Type_size type_size (Type Skip);
            Type_size_c type_size_c (Skip Skip);
            Type_size_x type_size_x (Type Skip);
            Type_struct type_struct (Int IntsOf0 Skip TypesOf0 NewType);
            Type_ub type_ub (Type Skip);
            Type_vector type_vector (Int Int Int Type NewType);
            Type_vector_c type_vector_c (Skip Skip Skip Skip Skip);
            Unpack unpack (Skip Int Skip Skip Int Type Comm);
            Unpack_c unpack_c (Skip Skip Skip Skip Skip Skip Skip);
            Unpack_external unpack_external (Skip Skip Aint Skip Skip Int Type);
            Unpack_external_c unpack_external_c (Skip Skip Skip Skip Skip Skip Skip);
            Unpublish_name unpublish_name (Skip Info Skip);
            Wait wait (Request Status);
            Waitall waitall (Int Requests Statuses);
            Waitany waitany (Int Requests Index Status);
            Waitsome waitsome (Int Requests Outcount Indices Statuses);
            Win_allocate win_allocate (Aint Int Info Comm Skip NewWin);
            Win_allocate_c win_allocate_c (Skip Skip Skip Skip Skip Skip);
            Win_allocate_shared win_allocate_shared (Aint Int Info Comm Skip NewWin);
            Win_allocate_shared_c win_allocate_shared_c (Skip Skip Skip Skip Skip Skip);
            Win_attach win_attach (Win Skip Aint);
            Win_call_errhandler win_call_errhandler (Win Int);
            Win_complete win_complete (Win);
            Win_create win_create (Skip Aint Int Info Comm NewWin);
            Win_create_c win_create_c (Skip Skip Skip Skip Skip Skip);
            Win_create_dynamic win_create_dynamic (Info Comm NewWin);
            Win_create_errhandler win_create_errhandler (Skip NewErrhandler);
            Win_create_keyval win_create_keyval (Skip Skip Skip Skip);
            Win_delete_attr win_delete_attr (Win Int);
            Win_detach win_detach (Win Skip);
            Win_fence win_fence (Int Win);
            Win_flush win_flush (Target Win);
            Win_flush_all win_flush_all (Win);
            Win_flush_local win_flush_local (Target Win);
            Win_flush_local_all win_flush_local_all (Win);
            Win_free win_free (FreeWin);
            Win_free_keyval win_free_keyval (Skip);
            Win_get_attr win_get_attr (Win Int Skip Skip);
            Win_get_errhandler win_get_errhandler (Win NewErrhandler);
            Win_get_group win_get_group (Win NewGroup);
            Win_get_info win_get_info (Win NewInfo);
            Win_get_name win_get_name (Win Skip Skip);
            Win_lock win_lock (Int Target Int Win);
            Win_lock_all win_lock_all (Int Win);
            Win_post win_post (Group Int Win);
            Win_set_attr win_set_attr (Win Int Skip);
            Win_set_errhandler win_set_errhandler (Win Errhandler);
            Win_set_info win_set_info (Win Info);
            Win_set_name win_set_name (Win Skip);
            Win_shared_query win_shared_query (Win Target Skip Skip Skip);
            Win_shared_query_c win_shared_query_c (Skip Skip Skip Skip Skip);
            Win_start win_start (Group Int Win);
            Win_sync win_sync (Win);
            Win_test win_test (Win Flag);
            Win_unlock win_unlock (Target Win);
            Win_unlock_all win_unlock_all (Win);
            Win_wait win_wait (Win);
        }
    };
}

macro_rules! table {
    ($($name:ident $fortran:ident ($($role:ident)*);)*) => {
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

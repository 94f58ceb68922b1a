/* GCC takes MPICH's MPI_STATUSES_IGNORE and MPI_UNWEIGHTED, which are small
 * numbers, for arrays that are too short. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif

//! What ranks send up a tree to rank 0.

use likewise_comm::{CommError, Communicator};

/// Sends `held` up a binomial tree; on rank 0, what `join` made of that of all
/// ranks, joined in their order. On others nothing.
pub(crate) fn up<C: Communicator + ?Sized>(
    comm: &C,
    mut held: Vec<u8>,
    mut join: impl FnMut(Vec<u8>, &[u8]) -> Option<Vec<u8>>,
) -> Result<Vec<u8>, CommError> {
    let (rank, size) = (comm.rank(), comm.size());
    let distances = std::iter::successors(Some(1_usize), |distance| distance.checked_mul(2));
    for distance in distances.take_while(|distance| *distance < size) {
        if rank & distance != 0 {
            comm.send(rank - distance, &held)?;
            return Ok(Vec::new());
        }
        if rank + distance < size {
            // The ranks of that subtree follow those of this one.
            held = join(held, &comm.receive(rank + distance)?).ok_or_else(out_of_step)?;
        }
    }
    Ok(held)
}

pub(crate) fn out_of_step() -> CommError {
    let reason = "a message is not what a sampler sends: the ranks do not make the same calls".into();
    CommError::Transport { call: "adapt", reason }
}

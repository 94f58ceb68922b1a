//! Every collective function beside its plain definition.
//!
//! What a rank contributes follows from its number, so that each rank knows
//! what all others do and can compute every result alone. The MPI crate
//! includes this file.

use likewise_comm::{CommError, Communicator, Parcel, Reduction};

/// A number that looks random (SplitMix64's last step).
fn hash(seed: usize, of: usize) -> u64 {
    let mut z = (seed as u64) << 32 ^ of as u64;
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// What `rank` sends in a trial: often nothing.
fn message(trial: usize, rank: usize) -> Vec<u8> {
    let length = (hash(trial, rank) % 40).saturating_sub(15) as usize;
    (0..length).map(|i| hash(rank, i) as u8).collect()
}

/// Runs all checks.
pub(crate) fn all<C: Communicator + ?Sized>(comm: &C) -> Result<(), CommError> {
    let size = comm.size();
    all_reduce(comm)?;
    sum_before(comm)?;
    for trial in 0..3 {
        for root in [0, size - 1, size / 3] {
            broadcast(comm, trial, root)?;
            gather(comm, trial, root)?;
        }
        all_gather(comm, trial)?;
        concatenate(comm, trial)?;
        route(comm, |from| scattered(trial, from, size))?;
    }
    route(comm, |_| Vec::new())?;
    route(comm, |from| vec![(from, vec![1]), (from, vec![]), (from, vec![2; from % 7])])?;
    // All to one, and one to all.
    route(comm, |from| (0..20).map(|i| (size / 2, message(i, from))).collect())?;
    route(comm, |from| {
        if from == size - 1 { (0..size).map(|to| (to, message(3, to))).collect() } else { Vec::new() }
    })
}

pub(crate) fn all_reduce<C: Communicator + ?Sized>(comm: &C) -> Result<(), CommError> {
    for reduction in [Reduction::Sum, Reduction::Min, Reduction::Max] {
        for n_values in [0, 1, 5, 300] {
            // Sums of them wrap.
            let value = |rank, i| hash(rank, i) as i64;
            let mut values: Vec<i64> = (0..n_values).map(|i| value(comm.rank(), i)).collect();
            comm.all_reduce(reduction, &mut values)?;
            for (i, reduced) in values.iter().enumerate() {
                let all = (0..comm.size()).map(|rank| value(rank, i));
                let plain = match reduction {
                    Reduction::Sum => all.fold(0, i64::wrapping_add),
                    Reduction::Min => all.min().unwrap(),
                    Reduction::Max => all.max().unwrap(),
                };
                assert_eq!(*reduced, plain, "{reduction:?} of value {i}");
            }
        }
    }
    Ok(())
}

pub(crate) fn sum_before<C: Communicator + ?Sized>(comm: &C) -> Result<(), CommError> {
    let value = |rank| hash(5, rank) as i64;
    let plain = (0..comm.rank()).map(value).fold(0, i64::wrapping_add);
    assert_eq!(comm.sum_before(value(comm.rank()))?, plain);
    Ok(())
}

pub(crate) fn broadcast<C: Communicator + ?Sized>(
    comm: &C,
    trial: usize,
    root: usize,
) -> Result<(), CommError> {
    let mut bytes = message(trial, comm.rank());
    comm.broadcast(root, &mut bytes)?;
    assert_eq!(bytes, message(trial, root), "broadcast from {root}");
    Ok(())
}

pub(crate) fn gather<C: Communicator + ?Sized>(comm: &C, trial: usize, root: usize) -> Result<(), CommError> {
    let gathered = comm.gather(root, &message(trial, comm.rank()))?;
    let n_blocks = if comm.rank() == root { comm.size() } else { 0 };
    let plain: Vec<_> = (0..n_blocks).map(|rank| message(trial, rank)).collect();
    assert_eq!(gathered, plain, "gathered on {root}");
    Ok(())
}

pub(crate) fn all_gather<C: Communicator + ?Sized>(comm: &C, trial: usize) -> Result<(), CommError> {
    let gathered = comm.all_gather(&message(trial, comm.rank()))?;
    let plain: Vec<_> = (0..comm.size()).map(|rank| message(trial, rank)).collect();
    assert_eq!(gathered, plain);
    Ok(())
}

pub(crate) fn concatenate<C: Communicator + ?Sized>(comm: &C, trial: usize) -> Result<(), CommError> {
    let mut bytes = message(trial, comm.rank());
    comm.concatenate(&mut bytes)?;
    let plain: Vec<u8> = (0..comm.size()).flat_map(|rank| message(trial, rank)).collect();
    assert_eq!(bytes, plain);
    Ok(())
}

/// Parcels of a rank to any others, itself among them.
pub(crate) fn scattered(trial: usize, from: usize, size: usize) -> Vec<Parcel> {
    let n_parcels = hash(trial, from) % 6;
    let to = |i| (hash(trial + 100 * from, i) % size as u64) as usize;
    (0..n_parcels as usize).map(|i| (to(i), message(trial + i, from))).collect()
}

/// Routes what `sends` says that each rank sends.
pub(crate) fn route<C: Communicator + ?Sized>(
    comm: &C,
    sends: impl Fn(usize) -> Vec<Parcel>,
) -> Result<(), CommError> {
    let delivered = comm.route(sends(comm.rank()))?;
    let of = |from| sends(from).into_iter().map(move |(to, message)| (to, (from, message)));
    let all = (0..comm.size()).flat_map(of);
    let plain: Vec<Parcel> = all.filter(|(to, _)| *to == comm.rank()).map(|(_, parcel)| parcel).collect();
    assert_eq!(delivered, plain, "routed to {}", comm.rank());
    Ok(())
}

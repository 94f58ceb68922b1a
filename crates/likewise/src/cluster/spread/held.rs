//! Points at their owners, and what owners tell each other and the ranks that
//! the points came from.

use crate::cluster::Points;
use crate::comm::{CommError, Communicator, Parcel};

/// Which rows each rank has: those of rank r follow those of rank r - 1.
pub(in crate::cluster) struct Rows {
    /// The first row of each rank, and the number of all rows.
    start: Vec<u64>,
}

impl Rows {
    /// Tells all ranks how many rows each has.
    pub(in crate::cluster) fn gather<C: Communicator + ?Sized>(
        comm: &C,
        n: usize,
    ) -> Result<Self, CommError> {
        let mut start = vec![0];
        for bytes in comm.all_gather(&(n as u64).to_le_bytes())? {
            let n = <[u8; 8]>::try_from(&bytes[..]).map_err(|_| CommError::out_of_step("Rows::gather"))?;
            start.push(start[start.len() - 1] + u64::from_le_bytes(n));
        }
        Ok(Self { start })
    }

    /// How many rows there are on all ranks.
    pub(in crate::cluster) fn n(&self) -> u64 {
        self.start[self.start.len() - 1]
    }

    /// The first row of a rank.
    pub(in crate::cluster) fn first(&self, rank: usize) -> u64 {
        self.start[rank]
    }

    /// The rank that has a row.
    pub(in crate::cluster) fn rank_of(&self, row: u64) -> usize {
        self.start.partition_point(|&start| start <= row) - 1
    }
}

/// The points of one owner: its own, and copies of those of other owners that
/// its own may be near.
pub(in crate::cluster) struct Held {
    dims: usize,
    /// Own points by ascending row, then copies in the order of their owners.
    data: Vec<f64>,
    /// The row, among all, of each own point.
    rows: Vec<u64>,
    /// Which rows of this rank went to which owner, in order.
    sent: Vec<(usize, Vec<u32>)>,
    /// How many own points came from which rank.
    came: Vec<(usize, usize)>,
    /// Which own points have copies at which rank, in order.
    given: Vec<(usize, Vec<u32>)>,
    /// How many copies came from which owner.
    copies: Vec<(usize, usize)>,
}

impl Held {
    /// Sends rows of `points`, by ascending row, to their owners. 4 bytes and
    /// the coordinates for each.
    pub(in crate::cluster) fn at_owners<C: Communicator + ?Sized>(
        comm: &C,
        points: Points<'_>,
        all: &Rows,
        rows_and_owners: impl Iterator<Item = (u32, usize)>,
    ) -> Result<Self, CommError> {
        let mut to = vec![(Vec::new(), Vec::new()); comm.size()];
        for (row, owner) in rows_and_owners {
            let (rows, bytes) = &mut to[owner];
            rows.push(row);
            bytes.extend_from_slice(&row.to_le_bytes());
            put_coordinates(bytes, points.row(row as usize));
        }
        let (mut sent, mut parcels) = (Vec::new(), Vec::new());
        for (owner, (rows, bytes)) in to.into_iter().enumerate().filter(|(_, (rows, _))| !rows.is_empty()) {
            sent.push((owner, rows));
            parcels.push((owner, bytes));
        }
        let dims = points.dims();
        let (mut data, mut rows, mut came) = (Vec::new(), Vec::new(), Vec::new());
        for (from, bytes) in comm.route(parcels)? {
            let width = 4 + 8 * dims;
            if bytes.len() % width != 0 {
                return Err(CommError::out_of_step("Held::at_owners"));
            }
            came.push((from, bytes.len() / width));
            for point in bytes.chunks_exact(width) {
                let (row, coordinates) = point.split_at(4);
                let row = row.iter().rev().fold(0, |row, &byte| row << 8 | u64::from(byte));
                rows.push(all.first(from) + row);
                take_coordinates(&mut data, coordinates);
            }
        }
        Ok(Self { dims, data, rows, sent, came, given: Vec::new(), copies: Vec::new() })
    }

    /// Gives copies of own points to others. `near` calls its last argument with
    /// the ranks that need a copy of a point, once for each.
    pub(in crate::cluster) fn give<C: Communicator + ?Sized>(
        &mut self,
        comm: &C,
        near: impl Fn(&[f64], &mut dyn FnMut(usize)),
    ) -> Result<(), CommError> {
        let mut to = vec![(Vec::new(), Vec::new()); comm.size()];
        for (own, point) in (0u32..).zip(self.data.chunks_exact(self.dims)) {
            near(point, &mut |rank| {
                if rank != comm.rank() {
                    to[rank].0.push(own);
                    put_coordinates(&mut to[rank].1, point);
                }
            });
        }
        let mut parcels = Vec::new();
        for (rank, (own, bytes)) in to.into_iter().enumerate().filter(|(_, (own, _))| !own.is_empty()) {
            self.given.push((rank, own));
            parcels.push((rank, bytes));
        }
        for (from, bytes) in comm.route(parcels)? {
            if bytes.len() % (8 * self.dims) != 0 {
                return Err(CommError::out_of_step("Held::give"));
            }
            self.copies.push((from, bytes.len() / (8 * self.dims)));
            take_coordinates(&mut self.data, &bytes);
        }
        Ok(())
    }

    /// Own points, then copies.
    pub(in crate::cluster) fn points(&self) -> Points<'_> {
        Points { data: &self.data, dims: self.dims }
    }

    /// How many own points there are.
    pub(in crate::cluster) fn n_own(&self) -> usize {
        self.rows.len()
    }

    /// The row, among all, of each own point: they ascend.
    pub(in crate::cluster) fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// The own points of which others have copies; some more than once.
    pub(in crate::cluster) fn given(&self) -> impl Iterator<Item = usize> {
        self.given.iter().flat_map(|(_, own)| own.iter().map(|&own| own as usize))
    }

    /// The owner of each copy, in order.
    pub(in crate::cluster) fn owners_of_copies(&self) -> impl Iterator<Item = usize> {
        self.copies.iter().flat_map(|&(owner, n)| std::iter::repeat_n(owner, n))
    }

    /// Tells those that have copies something of own points. What this rank is
    /// told of its copies, in order.
    pub(in crate::cluster) fn tell<const N: usize, C: Communicator + ?Sized>(
        &self,
        comm: &C,
        of_own: impl Fn(usize) -> [u8; N],
    ) -> Result<Vec<[u8; N]>, CommError> {
        let parcel = |(rank, own): &(usize, Vec<u32>)| {
            (*rank, own.iter().flat_map(|&own| of_own(own as usize)).collect())
        };
        let parcels = comm.route(self.given.iter().map(parcel).collect())?;
        let mut told = Vec::new();
        for bytes in in_step(&parcels, self.copies.iter().map(|&(from, n)| (from, n * N)), "Held::tell")? {
            told.extend_from_slice(bytes.as_chunks().0);
        }
        Ok(told)
    }

    /// Sends what was found of own points back to where they came from. Calls `take`
    /// with it for every row that this rank sent.
    pub(in crate::cluster) fn send_home<const N: usize, C: Communicator + ?Sized>(
        &self,
        comm: &C,
        of_own: impl Fn(usize) -> [u8; N],
        mut take: impl FnMut(usize, [u8; N]),
    ) -> Result<(), CommError> {
        let mut first = 0;
        let parcel = |&(to, n): &(usize, usize)| {
            first += n;
            (to, (first - n..first).flat_map(&of_own).collect())
        };
        let parcels = comm.route(self.came.iter().map(parcel).collect())?;
        let expected = self.sent.iter().map(|(owner, rows)| (*owner, rows.len() * N));
        for (bytes, (_, rows)) in in_step(&parcels, expected, "Held::send_home")?.zip(&self.sent) {
            rows.iter().zip(bytes.as_chunks().0).for_each(|(&row, found)| take(row as usize, *found));
        }
        Ok(())
    }
}

/// The messages of parcels, if they are from whom, and as long, as expected.
pub(in crate::cluster) fn in_step<'a>(
    parcels: &'a [Parcel],
    expected: impl Iterator<Item = (usize, usize)>,
    call: &'static str,
) -> Result<impl Iterator<Item = &'a [u8]>, CommError> {
    if !parcels.iter().map(|(from, bytes)| (*from, bytes.len())).eq(expected) {
        return Err(CommError::out_of_step(call));
    }
    Ok(parcels.iter().map(|(_, bytes)| &bytes[..]))
}

pub(in crate::cluster) fn put_coordinates(bytes: &mut Vec<u8>, point: &[f64]) {
    point.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
}

pub(in crate::cluster) fn take_coordinates(data: &mut Vec<f64>, bytes: &[u8]) {
    data.extend(bytes.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)));
}

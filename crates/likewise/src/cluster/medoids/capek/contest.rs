//! Which of several sets of medoids is the best.

use super::super::subset::chance;
use crate::comm::{Communicator, Reduction};

use super::params::CapekError;
use super::pool::Pool;
use super::portable::Portable;
use super::world::World;

/// Dissimilarities of the first round, over all ranks.
const FIRST: u64 = 1 << 16;

/// How many times more objects the next round looks at: with a million ranks of
/// one object each, the third round looks at all.
const MORE: f64 = 32.0;

/// A set is out if its loss is more than this many standard errors above the
/// least loss.
const SURE: f64 = 3.0;

/// The set of least loss for all objects.
///
/// The pool alone cannot tell. Which groups are better merged depends on their
/// shares of all objects, and in the pool these shares are off by chance; so the
/// medoids that are best for the pool need not be best for all objects, and those
/// of a single trial may be. The sets therefore race: they are compared on some
/// objects, the sets that are surely worse are out, the others are compared on
/// many more objects, and so on. A set that is far ahead wins after a few objects,
/// and one that is hardly ahead only after all.
///
/// # Reference
/// Maron & Moore, *NIPS* 6, 1994 (Hoeffding races). Differs: differences are
/// taken object by object, and their spread is estimated.
pub(super) fn winner<C, T, D>(
    world: &World<'_, C, T, D>,
    pool: &Pool<T>,
    sets: Vec<Vec<usize>>,
    seed: u64,
) -> Result<Vec<usize>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let n_medoids: usize = sets.iter().map(Vec::len).sum();
    let near = |set: &[usize], at: usize| {
        let medoids = set.iter().map(|&place| &pool.objects[place].object);
        medoids.map(|medoid| (world.dissimilarity)(&world.objects[at], medoid)).fold(f64::INFINITY, f64::min)
    };
    let mut racers: Vec<Racer> =
        sets.into_iter().map(|medoids| Racer { medoids, distances: Vec::new() }).collect();
    let mut places: Vec<usize> = Vec::new();
    let (mut done, mut share) = (0.0, FIRST as f64 / n_medoids as f64 / world.n as f64);
    while racers.len() > 1 && done < 1.0 {
        // By number, so that it does not matter where objects are.
        let is_next = |at: &usize| (done..share).contains(&chance(seed, world.index(*at)));
        let next: Vec<usize> = (0..world.objects.len()).filter(is_next).collect();
        for racer in &mut racers {
            let Racer { medoids, distances } = racer;
            distances.extend(next.iter().map(|&at| near(medoids, at)));
        }
        places.extend(next);
        racers = best(world, racers, &places, share)?;
        (done, share) = (share, share * MORE);
    }
    Ok(racers.swap_remove(0).medoids)
}

/// A set, and of each object that was looked at the dissimilarity to it.
struct Racer {
    medoids: Vec<usize>,
    distances: Vec<f64>,
}

/// Those that are not surely worse than the best, which comes first; it alone,
/// once all objects were looked at.
fn best<C, T, D>(
    world: &World<'_, C, T, D>,
    mut racers: Vec<Racer>,
    places: &[usize],
    share: f64,
) -> Result<Vec<Racer>, CapekError>
where
    C: Communicator,
    T: Portable + Clone + Sync,
    D: Fn(&T, &T) -> f64 + Sync,
{
    let lists: Vec<Vec<f64>> = racers.iter().map(|racer| racer.distances.clone()).collect();
    let losses = world.sums(&lists, |at| places[at])?;
    let leader = super::world::first_least(losses.iter().copied());
    if share >= 1.0 {
        return Ok(vec![racers.swap_remove(leader)]);
    }
    let square = |list: &Vec<f64>| list.iter().zip(&lists[leader]).map(|(a, b)| (a - b) * (a - b)).collect();
    let squares = world.sums(&lists.iter().map(square).collect::<Vec<Vec<f64>>>(), |at| places[at])?;
    let mut n = [places.len() as i64];
    world.comm.all_reduce(Reduction::Sum, &mut n)?;
    let is_near = |at: usize| {
        let behind = losses[at] - losses[leader];
        let variance = squares[at] - behind * behind / n[0].max(1) as f64;
        behind < SURE * (variance.max(0.0) * (1.0 - share)).sqrt()
    };
    let mut kept: Vec<Racer> = Vec::new();
    for (at, racer) in racers.into_iter().enumerate() {
        if at == leader {
            kept.insert(0, racer);
        } else if is_near(at) {
            kept.push(racer);
        }
    }
    Ok(kept)
}

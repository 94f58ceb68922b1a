//! Effort that sampled ranks wrote in a window of steps. `docs/strata.md`
//! describes the bytes.

use crate::broken::Broken;
use crate::bytes::{Reader, Write};

/// The version of the bytes.
const VERSION: u8 = 1;

/// More ranks than any job has: what a few bytes claim is not believed.
const MOST_RANKS: u64 = 1 << 25;

/// Whether the ranks are in strata, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Ranks are in strata: by equation 2 this pays.
    Stratified,
    /// No strata were found.
    #[default]
    Alike,
    /// Strata were found; by equation 2 they do not pay.
    DoesNotPay,
    /// Strata were found, but a sample from each takes more ranks than one of
    /// all.
    TakesMore,
}

const CHOICES: [Choice; 4] = [Choice::Stratified, Choice::Alike, Choice::DoesNotPay, Choice::TakesMore];

/// What is computed between two calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffortRegion {
    /// The same in all windows and runs.
    pub id: u128,
    /// Its name, in the first window that has it; empty in later ones.
    pub name: String,
}

/// The effort of one rank that was sampled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampledRank {
    /// The rank.
    pub rank: u32,
    /// Step by step, in ns: of each region, then of all other regions together.
    pub effort: Vec<u64>,
}

/// A window of steps, as the sampled ranks wrote it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// The number of its first step, from 0.
    pub first_step: u64,
    /// How many steps it has.
    pub n_steps: u64,
    /// The regions that are told apart.
    pub regions: Vec<EffortRegion>,
    /// The stratum of every rank, from 0: so many ranks in a row, from rank 0 on.
    pub strata: Vec<(u32, u64)>,
    /// Why they are so.
    pub choice: Choice,
    /// Whether strata and sample were drawn by the effort of this very window: in
    /// the first one, and where those of the window before no longer fitted.
    pub is_redrawn: bool,
    /// What was promised: the mean is not farther off than this share.
    pub error: f64,
    /// With this chance.
    pub confidence: f64,
    /// Half of the confidence interval of a sample like this one, as a share of
    /// the mean, by how much all ranks differed in this window; of the step where
    /// it is largest.
    pub expected_error: f64,
    /// Both sides of equation 2 for the strata that were found, for the effort
    /// over the window on which they were found, in ns².
    pub equation2: (f64, f64),
    /// The effort of all ranks in each step, in ns.
    pub whole: Vec<u64>,
    /// Of each stratum, how its ranks differed in this window: the standard
    /// deviation (divisor n − 1, of all its ranks) of the effort in each step, then
    /// in all steps together, in ns.
    pub deviations: Vec<Vec<f64>>,
    /// Those that were sampled, by rank.
    pub sampled: Vec<SampledRank>,
}

impl Window {
    /// How many ranks there are.
    #[must_use]
    pub fn n_ranks(&self) -> u64 {
        self.strata.iter().map(|run| run.1).sum()
    }

    /// How many strata there are.
    #[must_use]
    pub fn n_strata(&self) -> usize {
        self.strata.iter().map(|run| run.0 as usize + 1).max().unwrap_or(0)
    }

    /// As bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.number(self.first_step);
        bytes.number(self.n_steps);
        bytes.number(self.regions.len() as u64);
        for region in &self.regions {
            bytes.extend(region.id.to_le_bytes());
            bytes.block(region.name.as_bytes());
        }
        bytes.number(self.strata.len() as u64);
        for (stratum, n) in &self.strata {
            bytes.number(u64::from(*stratum));
            bytes.number(*n);
        }
        bytes.push(CHOICES.iter().position(|known| *known == self.choice).unwrap_or(0) as u8);
        bytes.push(u8::from(self.is_redrawn));
        let reals = [self.error, self.confidence, self.expected_error, self.equation2.0, self.equation2.1];
        reals.iter().for_each(|real| bytes.extend(real.to_le_bytes()));
        self.whole.iter().for_each(|whole| bytes.number(*whole));
        self.deviations.iter().flatten().for_each(|deviation| bytes.extend(deviation.to_le_bytes()));
        bytes.number(self.sampled.len() as u64);
        for sampled in &self.sampled {
            bytes.number(u64::from(sampled.rank));
            sampled.effort.iter().for_each(|effort| bytes.number(*effort));
        }
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, Broken> {
        let mut reader = Reader::new(bytes);
        let version = reader.byte()?;
        if version != VERSION {
            return Err(reader.broken(&format!("version {version} of strata; this likewise reads {VERSION}")));
        }
        let first_step = reader.number()?;
        // Every step has a number of its own further on.
        let n_steps = reader.count()?;
        let regions = (0..reader.count()?).map(|_| region(&mut reader)).collect::<Result<Vec<_>, _>>()?;
        let strata = strata(&mut reader)?;
        let choice = CHOICES.get(usize::from(reader.byte()?));
        let choice = *choice.ok_or_else(|| reader.broken("strata are neither chosen nor refused"))?;
        let is_redrawn = reader.byte()? != 0;
        let mut next = || real(&mut reader);
        let (error, confidence, expected_error, equation2) = (next()?, next()?, next()?, (next()?, next()?));
        let whole = (0..n_steps).map(|_| reader.number()).collect::<Result<_, _>>()?;
        let n_strata = strata.iter().map(|run| run.0 + 1).max().unwrap_or(0);
        let of_stratum = |reader: &mut Reader<'_>| (0..=n_steps).map(|_| real(reader)).collect();
        let deviations = (0..n_strata).map(|_| of_stratum(&mut reader)).collect::<Result<_, _>>()?;
        let width = n_steps.checked_mul(regions.len() + 1);
        let width = width.ok_or_else(|| reader.broken("more numbers of a rank than there are bytes"))?;
        let mut window = Self {
            first_step,
            n_steps: n_steps as u64,
            regions,
            strata,
            choice,
            is_redrawn,
            error,
            confidence,
            expected_error,
            equation2,
            whole,
            deviations,
            sampled: Vec::new(),
        };
        window.sampled = sampled(&mut reader, width, window.n_ranks())?;
        if reader.rest() > 0 {
            return Err(reader.broken("more bytes than strata have"));
        }
        Ok(window)
    }
}

fn region(reader: &mut Reader<'_>) -> Result<EffortRegion, Broken> {
    let id = reader.take(16)?.try_into().map_err(|_| reader.broken("the data end too early"))?;
    Ok(EffortRegion { id: u128::from_le_bytes(id), name: reader.text()? })
}

/// Runs of ranks, with strata numbered without gaps.
fn strata(reader: &mut Reader<'_>) -> Result<Vec<(u32, u64)>, Broken> {
    let mut left = MOST_RANKS;
    let run = |reader: &mut Reader<'_>, left: &mut u64| {
        let (stratum, n) = (reader.small()?, reader.number()?);
        *left = left.checked_sub(n.max(1)).ok_or_else(|| reader.broken("more ranks than a job has"))?;
        Ok((stratum, n))
    };
    let n = reader.count()?;
    let runs = (0..n).map(|_| run(reader, &mut left)).collect::<Result<Vec<_>, Broken>>()?;
    let mut known: Vec<u32> = runs.iter().map(|run| run.0).collect();
    known.sort_unstable();
    known.dedup();
    if known.iter().zip(0..).any(|(known, number)| *known != number) || runs.iter().any(|run| run.1 == 0) {
        return Err(reader.broken("a stratum without ranks"));
    }
    Ok(runs)
}

fn real(reader: &mut Reader<'_>) -> Result<f64, Broken> {
    let bytes = reader.take(8)?.try_into().map_err(|_| reader.broken("the data end too early"))?;
    let real = f64::from_le_bytes(bytes);
    if !(real.is_finite() && real >= 0.0) {
        return Err(reader.broken("a figure of strata is no number of at least 0"));
    }
    Ok(real)
}

fn sampled(reader: &mut Reader<'_>, width: usize, n_ranks: u64) -> Result<Vec<SampledRank>, Broken> {
    let mut next = 0_u64;
    let one = |reader: &mut Reader<'_>, next: &mut u64| {
        let rank = reader.small()?;
        if u64::from(rank) < *next || u64::from(rank) >= n_ranks {
            return Err(reader.broken("a sampled rank that is none, or out of order"));
        }
        *next = u64::from(rank) + 1;
        let effort = (0..width).map(|_| reader.number()).collect::<Result<_, Broken>>()?;
        Ok(SampledRank { rank, effort })
    };
    let n = reader.count()?;
    (0..n).map(|_| one(reader, &mut next)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn made() -> Window {
        Window {
            first_step: 32,
            n_steps: 2,
            regions: vec![
                EffortRegion { id: 7 << 100, name: "solve".into() },
                EffortRegion { id: 1, name: String::new() },
            ],
            strata: vec![(1, 3), (0, 1000), (1, 1)],
            choice: Choice::Stratified,
            is_redrawn: true,
            error: 0.05,
            confidence: 0.95,
            expected_error: 0.01,
            equation2: (9.5, 1e-3),
            whole: vec![1 << 40, 17],
            deviations: vec![vec![0.0, 2.5, 3.0], vec![1.0, 0.0, 1.0]],
            sampled: [2, 900]
                .map(|rank| SampledRank { rank, effort: vec![1, 2, 3, 4, u64::MAX, 0] })
                .to_vec(),
        }
    }

    #[test]
    fn a_window_comes_back() {
        let window = made();
        assert_eq!(Window::decode(&window.encode()), Ok(window.clone()));
        assert_eq!((window.n_ranks(), window.n_strata()), (1004, 2));
        assert_eq!(Window::decode(&Window::default().encode()), Ok(Window::default()));
    }

    #[test]
    fn what_is_broken_is_refused_or_read() {
        let bytes = made().encode();
        for end in 0..bytes.len() {
            assert!(Window::decode(&bytes[..end]).is_err(), "{end} bytes");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut broken = bytes.clone();
                broken[at] ^= 1 << bit;
                if let Ok(window) = Window::decode(&broken) {
                    // All that is read can be used.
                    let width = window.n_steps as usize * (window.regions.len() + 1);
                    assert!(window.sampled.iter().all(|sampled| sampled.effort.len() == width));
                    assert!(window.sampled.iter().all(|s| u64::from(s.rank) < window.n_ranks()));
                    assert_eq!(window.whole.len() as u64, window.n_steps);
                    assert_eq!(window.deviations.len(), window.n_strata());
                }
            }
        }
    }

    #[test]
    fn what_is_claimed_is_not_believed() {
        let claims: [(Window, &str); 3] = [
            (Window { strata: vec![(0, 1 << 40)], ..made() }, "more ranks than a job has"),
            (Window { strata: vec![(3, 5)], ..made() }, "a stratum without ranks"),
            (Window { error: f64::NAN, ..made() }, "a figure of strata"),
        ];
        for (window, what) in claims {
            let error = Window::decode(&window.encode()).unwrap_err();
            assert!(error.what.starts_with(what), "{error}");
        }
    }
}

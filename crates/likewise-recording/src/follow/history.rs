//! Which of a rank's values goes with which of its lead's where the value alone
//! does not tell: the lead's values before it do, or its place in what repeats.

use crate::hash::Map;

/// Values of the lead's that are looked at together.
const MOST: usize = 64;

/// So many values that came as expected are not chance.
const FEW: usize = 4;

/// A value of the lead's that did not come before.
const NEW: u32 = u32::MAX;

/// What the lead and the rank had at the same time, by number.
type Pair = [u32; 2];

/// What is known of a field. A value is a list, of one for a number.
#[derive(Debug)]
pub(crate) struct History {
    of_lead: Map<Vec<i64>, u32>,
    own: Vec<Vec<i64>>,
    rule: Rule,
}

#[derive(Debug)]
enum Rule {
    /// So many of the lead's last values, up to this one, tell; those there were.
    Last(usize, Vec<u32>, Map<Vec<u32>, u32>),
    /// These pairs come again and again; which one is next.
    Period(Vec<Pair>, usize),
}

impl History {
    /// `kinds` is what both had at the same time, once each, and `order` which of
    /// it came when. `goes_on`: the next value follows the last one here.
    pub(crate) fn of<'v>(
        kinds: impl Iterator<Item = [&'v [i64]; 2]>,
        order: &[u32],
        goes_on: bool,
    ) -> Option<Self> {
        let mut maps: [Map<Vec<i64>, u32>; 2] = Default::default();
        let mut number = |side: usize, value: &[i64]| {
            let next = maps[side].len() as u32;
            *maps[side].entry(value.to_vec()).or_insert(next)
        };
        let kinds: Vec<Pair> = kinds.map(|[of_lead, own]| [number(0, of_lead), number(1, own)]).collect();
        let column: Vec<Pair> = order.iter().map(|kind| kinds[*kind as usize]).collect();
        let lengths = std::iter::successors(Some(2), |n| Some(2 * n)).take_while(|n| *n <= MOST);
        let known = lengths.filter_map(|n| Some((n, last(&column, n)?))).next();
        let rule = match known {
            Some((n, known)) => {
                let from = if goes_on { column.len() - n } else { column.len() };
                Rule::Last(n, column[from..].iter().map(|pair| pair[0]).collect(), known)
            }
            None => Rule::Period(period(&column).filter(|_| goes_on)?.to_vec(), 0),
        };
        let [of_lead, numbers] = maps;
        let mut own = vec![Vec::new(); numbers.len()];
        numbers.into_iter().for_each(|(value, number)| own[number as usize] = value);
        Some(Self { of_lead, own, rule })
    }

    /// The rank's value for the lead's next one.
    pub(crate) fn next(&mut self, of_lead: &[i64]) -> Option<&[i64]> {
        let value = self.of_lead.get(of_lead).copied().unwrap_or(NEW);
        let own = match &mut self.rule {
            Rule::Last(n, before, known) => {
                if before.len() == *n {
                    before.remove(0);
                }
                before.push(value);
                *known.get(before)?
            }
            Rule::Period(pairs, at) => {
                let [expected, own] = *pairs.get(*at)?;
                // Once it is another one, the place is not known any more.
                *at = if expected == value { (*at + 1) % pairs.len() } else { pairs.len() };
                *pairs.get(*at).map(|_| &own)?
            }
        };
        Some(&self.own[own as usize])
    }
}

/// What goes with so many values of the lead's, if always the same does. Of many
/// values none comes twice, and then this says nothing: whatever comes in the
/// second half came before, as it does in what repeats.
fn last(column: &[Pair], n: usize) -> Option<Map<Vec<u32>, u32>> {
    let of_lead: Vec<u32> = column.iter().map(|pair| pair[0]).collect();
    let mut known: Map<Vec<u32>, u32> = Map::default();
    for (place, values) in of_lead.windows(n).enumerate() {
        let own = column[place + n - 1][1];
        match known.get(values) {
            Some(other) if *other != own => return None,
            Some(_) => {}
            None if 2 * place >= column.len() => return None,
            None => drop(known.insert(values.to_vec(), own)),
        }
    }
    (column.len() >= 2 * n + 2 * FEW).then_some(known)
}

/// The shortest period of the column's end which is half of it or more, has the
/// period twice or more, and a value of the lead's that goes with several: what
/// was always the same at last might be by chance.
fn period(column: &[Pair]) -> Option<&[Pair]> {
    let n = column.len();
    let at = |place: usize| column[n - 1 - place];
    // How long an end is that also ends so much earlier (Knuth, Morris, Pratt).
    let mut borders = vec![0; n];
    for place in 1..n {
        let mut border = borders[place - 1];
        while border > 0 && at(place) != at(border) {
            border = borders[border - 1];
        }
        borders[place] = border + usize::from(at(place) == at(border));
        let (length, period) = (place + 1, place + 1 - borders[place]);
        // Of longer ends, the period is no shorter.
        if length >= 2 * period && 2 * length >= n && length >= period + 2 * FEW {
            let period = &column[n - period..];
            return torn(period).then_some(period);
        }
    }
    None
}

/// Whether a value of the lead's goes with several of the rank's.
fn torn(column: &[Pair]) -> bool {
    let mut only: Map<u32, u32> = Map::default();
    column.iter().any(|[of_lead, own]| only.entry(*of_lead).or_insert(*own) != own)
}

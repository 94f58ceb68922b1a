//! In which function of the source each burst lies, for a timeline beside
//! that of the phases.

use std::collections::BTreeMap;
use std::io;

use likewise::table::{BurstTable, Nanos, PlaceId, Region, Regions};
use serde_json::{Value, json};

use super::html::{Column, MetaColumn};
use crate::palette;

/// The most functions with a colour of their own: as many as a reader can tell
/// apart. If there are more, those with least time share one colour.
const MAX_FUNCTIONS: usize = 20;

/// The function of every burst.
#[derive(Clone, Debug, Default)]
pub struct FunctionsView<'a> {
    /// Names, those with most time first, then perhaps that of all others;
    /// untrusted text.
    pub names: Vec<String>,
    /// The computing time of each.
    pub totals: Vec<Nanos>,
    /// Places in these functions, with file and line where the trace tells;
    /// untrusted text.
    pub places: Vec<String>,
    /// The function of each place, as an index + 1.
    pub function_of_place: Vec<u32>,
    /// The region of every burst of the report, in order.
    pub regions: Option<&'a Regions>,
    /// Of each of these its place as an index + 1; 0 where it is not known.
    pub place_of_region: Vec<u32>,
    /// Whether functions were traced; else they are those of call sites.
    pub is_traced: bool,
}

impl<'a> FunctionsView<'a> {
    /// The functions that bursts end in or, where no function was traced, those
    /// of the calls that end them. `None` where the trace tells less than two.
    ///
    /// # Complexity
    /// O(n + p log f) for n bursts at p places in f functions.
    pub fn of(table: &'a BurstTable) -> Option<Self> {
        let code = table.code.as_ref()?;
        let is_traced = code.regions.list().iter().any(|region| region.function.is_some());
        let place = |region: Region| -> Option<PlaceId> {
            if is_traced { region.function } else { region.after.or(region.before) }
        };
        // `do_send2d (redblack.F90:71)`: the lines of a function count as one.
        let function = |id: PlaceId| code.name(id).split(" (").next().unwrap_or_default();
        let mut times_of: Vec<Option<(PlaceId, Nanos)>> = vec![None; code.places.len()];
        for (region, &duration) in code.regions.iter().zip(&table.duration) {
            if let Some(id) = place(region) {
                let (_, time) = times_of[id.index()].get_or_insert((id, Nanos::ZERO));
                *time = time.saturating_add(duration);
            }
        }
        let mut times: BTreeMap<&str, Nanos> = BTreeMap::new();
        for (id, duration) in times_of.into_iter().flatten() {
            let time = times.entry(function(id)).or_default();
            *time = time.saturating_add(duration);
        }
        let mut order: Vec<(&str, Nanos)> = times.into_iter().collect();
        // Stable: of equal times, by name.
        order.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
        if order.len() < 2 {
            return None;
        }
        let kept = if order.len() > MAX_FUNCTIONS + 1 { MAX_FUNCTIONS } else { order.len() };
        let number: BTreeMap<&str, u32> =
            order.iter().enumerate().map(|(at, &(name, _))| (name, at.min(kept) as u32 + 1)).collect();
        let mut index = vec![0_u32; code.places.len()];
        let (mut places, mut function_of_place) = (Vec::new(), Vec::new());
        let place_of_region = code.regions.list().iter().map(|&region| {
            let Some(id) = place(region) else { return 0 };
            let at = &mut index[id.index()];
            if *at == 0 {
                places.push(code.name(id).to_owned());
                function_of_place.push(number[function(id)]);
                *at = places.len() as u32;
            }
            *at
        });
        let place_of_region = place_of_region.collect();
        let regions = Some(&code.regions);
        let rest = order.split_off(kept);
        let (mut names, mut totals): (Vec<String>, Vec<Nanos>) =
            order.into_iter().map(|(name, time)| (name.to_owned(), time)).unzip();
        if !rest.is_empty() {
            names.push(format!("{} other functions", rest.len()));
            totals.push(rest.iter().fold(Nanos::ZERO, |sum, &(_, time)| sum.saturating_add(time)));
        }
        Some(Self { names, totals, places, function_of_place, regions, place_of_region, is_traced })
    }

    /// Checks that there is a function for each of `n` bursts.
    pub(super) fn check(&self, n: usize) -> io::Result<()> {
        let in_function = |&function: &u32| function as usize <= self.names.len();
        let in_place = |&place: &u32| place as usize <= self.places.len();
        if self
            .regions
            .is_none_or(|regions| regions.len() != n || regions.list().len() != self.place_of_region.len())
            || self.totals.len() != self.names.len()
            || self.function_of_place.len() != self.places.len()
            || !self.function_of_place.iter().all(in_function)
            || !self.place_of_region.iter().all(in_place)
        {
            let what = format!("report: functions do not fit {n} bursts");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(())
    }

    pub(super) fn column(&self, bursts: &[u32]) -> io::Result<Column> {
        Column::plain(bursts.iter().map(|&i| u64::from(self.place_of(i as usize))))
    }

    /// The place of a burst as an index + 1; 0 where it is not known.
    fn place_of(&self, burst: usize) -> u32 {
        self.regions.map_or(0, |regions| self.place_of_region[regions.place(burst)])
    }

    /// What the page needs; the first entry of each list is of bursts without a function.
    pub(super) fn meta(&self, column: &MetaColumn<'_>) -> Value {
        let named = std::iter::once(("not known", None))
            .chain(self.names.iter().map(String::as_str).zip(self.totals.iter().map(|time| Some(time.0))));
        let entry = |(at, (name, total)): (usize, (&str, Option<u64>))| {
            // Those after the functions with a colour are grey, as is what is not known.
            let (light, dark) = palette::colours(if at > MAX_FUNCTIONS { 0 } else { at as u32 });
            json!({"name": name, "total": total, "light": palette::hex(light), "dark": palette::hex(dark)})
        };
        let places: Vec<&str> = std::iter::once("").chain(self.places.iter().map(String::as_str)).collect();
        let function_of_place: Vec<u32> =
            std::iter::once(0).chain(self.function_of_place.iter().copied()).collect();
        json!({"traced": self.is_traced, "column": column, "places": places, "function_of_place": function_of_place,
               "list": named.enumerate().map(entry).collect::<Vec<_>>()})
    }
}

#[cfg(test)]
mod tests {
    use likewise::table::Code;

    use super::*;

    fn table(places: &[String], after: &[usize], function: &[usize]) -> BurstTable {
        let place = |at: usize| at.checked_sub(1).and_then(PlaceId::from_index);
        let regions = after.iter().zip(function);
        let regions = regions.map(|(&after, &function)| Region {
            before: None,
            after: place(after),
            function: place(function),
        });
        BurstTable {
            begin: vec![Nanos(0); after.len()],
            duration: (1..=after.len() as u64).map(Nanos).collect(),
            code: Some(Code { places: places.to_vec(), regions: regions.collect(), parallel: false }),
            ..BurstTable::default()
        }
    }

    #[test]
    fn lines_of_a_function_are_one_and_the_longest_is_first() {
        let places = ["a (x.c:1)", "a (x.c:9)", "b (y.c:3)", "main"].map(str::to_owned);
        let places_of = |view: &FunctionsView<'_>| (0..4).map(|i| view.place_of(i)).collect::<Vec<u32>>();
        let by_calls = table(&places, &[1, 3, 2, 0], &[0; 4]);
        let view = FunctionsView::of(&by_calls).expect("two functions");
        assert_eq!((&view.names[..], view.is_traced), (&["a".to_owned(), "b".to_owned()][..], false));
        assert_eq!(view.totals, [Nanos(4), Nanos(2)]);
        assert_eq!(view.places, ["a (x.c:1)", "b (y.c:3)", "a (x.c:9)"]);
        assert_eq!((&view.function_of_place[..], places_of(&view)), (&[1, 2, 1][..], vec![1, 2, 3, 0]));
        let by_functions = table(&places, &[1, 1, 1, 1], &[4, 3, 0, 4]);
        let traced = FunctionsView::of(&by_functions).expect("two functions");
        assert_eq!((places_of(&traced), traced.is_traced), (vec![1, 2, 0, 1], true));
        assert!(FunctionsView::of(&table(&places, &[1, 2, 1, 2], &[0; 4])).is_none(), "one function alone");
    }

    #[test]
    fn the_rest_is_one() {
        let places: Vec<String> = (0..30).map(|i| format!("f{i:02} (x.c:1)")).collect();
        let after: Vec<usize> = (1..=30).collect();
        let table = table(&places, &after, &[0; 30]);
        let view = FunctionsView::of(&table).expect("many");
        assert_eq!(view.names.len(), 21);
        assert_eq!((view.names[0].as_str(), view.names[20].as_str()), ("f29", "10 other functions"));
        let functions = (0..11).map(|burst| view.function_of_place[view.place_of(burst) as usize - 1]);
        assert_eq!(functions.filter(|&f| f == 21).count(), 10);
        assert_eq!(view.totals.iter().map(|t| t.0).sum::<u64>(), 30 * 31 / 2);
        view.check(30).expect("it fits");
        assert!(view.check(31).is_err());
    }
}

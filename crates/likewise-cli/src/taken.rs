//! What became of the columns of a table, for people and programs.

use crate::common::Common;
use likewise_trace::Taken;
use serde_json::{Value, json};

/// `columns` of `summary.json`.
pub(crate) fn to_json(taken: &Taken) -> Value {
    let left_out = |(name, why): &(String, String)| json!({ "name": name, "why": why });
    let units: serde_json::Map<String, Value> =
        taken.units.iter().map(|(name, unit)| (name.clone(), unit.as_str().into())).collect();
    json!({
        "numbers": taken.numbers,
        "n_numbers": taken.n_numbers,
        "names": taken.names,
        "left_out": taken.left_out.iter().map(left_out).collect::<Vec<_>>(),
        "units": units,
    })
}

/// Says what was read: all of it if asked to say more.
pub(crate) fn tell(taken: &Taken, common: &Common) {
    common.tell(taken.told());
}

/// The same, with notes on what was left out or read in another way.
pub(crate) fn say(taken: &Taken, common: &Common) {
    tell(taken, common);
    for note in taken.said() {
        common.say(format_args!("note: {note}"));
    }
}

//! What the environment says of recording on line.

use crate::watch::Marker;
use likewise_online::{Method, Options as LeadOptions};
use likewise_recording::Mode;

/// Of a marker's time, so much may be taken where nothing else is said.
const OVERHEAD: f64 = 0.02;
/// How many leads there are where nothing else is said: nine kinds of places
/// has a grid of two dimensions.
const K: usize = 9;
/// How long ranks wait for each other at a marker, in ns.
const PATIENCE: u64 = 10_000_000_000;

/// How to record, of the ways that there are.
#[derive(Clone, Debug)]
pub(crate) struct Modes {
    pub(crate) mode: Mode,
    /// Whether memory and bytes are to be counted.
    pub(crate) accounts: bool,
    pub(crate) marker: Marker,
    /// Each so many markers; none if it follows from `overhead`.
    pub(crate) every: Option<u64>,
    pub(crate) overhead: f64,
    pub(crate) leads: LeadOptions,
    pub(crate) strata: likewise_strata::Options,
    pub(crate) parameters: bool,
    pub(crate) progress: bool,
    pub(crate) patience: u64,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(format!("LIKEWISE_{name}")).ok().filter(|value| !value.is_empty())
}

impl Modes {
    /// What the environment says, and what of it is not understood.
    pub(crate) fn read() -> (Self, Vec<String>) {
        let mut wrong = Vec::new();
        let mode = variable("MODE");
        let accounts = mode.is_some();
        let mode = match mode.as_deref() {
            None | Some("full") => Mode::Full,
            Some("leads") => Mode::Leads,
            Some("strata") => Mode::Strata,
            Some(other) => {
                wrong.push(format!("LIKEWISE_MODE={other}: full, leads or strata"));
                Mode::Full
            }
        };
        let mut number = |name: &str| -> Option<f64> {
            let text = variable(name)?;
            let read = text.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0);
            if read.is_none() {
                wrong.push(format!("LIKEWISE_{name}={text}: a number above 0"));
            }
            read
        };
        let (every, overhead, k) = (number("EVERY"), number("OVERHEAD"), number("K"));
        let patience = number("PATIENCE");
        let mut strata = likewise_strata::Options::default();
        strata.every = number("WINDOW").map_or(strata.every, |steps| steps as usize).max(1);
        strata.error = number("ERROR").unwrap_or(strata.error);
        let marker = variable("MARKER").map(|text| {
            Marker::read(&text).unwrap_or_else(|| {
                wrong.push(format!("LIKEWISE_MARKER={text}: auto, pcontrol, MPI_Name or MPI_Name@hash"));
                Marker::Auto
            })
        });
        let method = match variable("SELECT").as_deref() {
            Some("medoids") => Method::Medoids,
            Some("random") => Method::Random,
            None | Some("farthest") => Method::Farthest,
            Some(other) => {
                wrong.push(format!("LIKEWISE_SELECT={other}: farthest, medoids or random"));
                Method::Farthest
            }
        };
        let parameters = variable("PARAMETERS").as_deref() == Some("1");
        let leads = LeadOptions { k: k.map_or(K, |k| k as usize).max(1), method, seed: 1, parameters };
        let modes = Self {
            mode,
            accounts,
            marker: marker.unwrap_or_default(),
            every: every.map(|every| every as u64).map(|every| every.max(1)),
            overhead: overhead.unwrap_or(OVERHEAD),
            leads,
            strata,
            parameters,
            progress: variable("PROGRESS").as_deref() == Some("1"),
            patience: patience.map_or(PATIENCE, |seconds| (seconds * 1e9) as u64),
        };
        (modes, wrong)
    }
}

//! How a program is recorded: all of it, its leads, or the effort of a sample.
//! The library in the program reads that from its environment.

use crate::common::Usage;
use anyhow::Result;
use clap::{Args, ValueEnum};
use likewise_recording::CallId;
use std::ffi::OsString;

/// Options of recording on line.
#[derive(Debug, Default, Args)]
pub(crate) struct ModeArgs {
    /// How much is recorded [default: full]
    #[arg(long, value_name = "MODE")]
    mode: Option<ModeArg>,
    /// What ends a step, at which ranks vote: auto (a call that every rank makes once in each turn of its
    /// outermost loop; a collective where there is one), pcontrol (the program calls MPI_Pcontrol(10)
    /// once per step, on every rank; all ranks wait for each other there), or a call that every rank
    /// makes once per step, such as MPI_Allreduce, with @HASH only from the call path that
    /// `likewise info` shows with that hash [default: auto]
    #[arg(long, value_name = "auto|pcontrol|CALL[@HASH]", value_parser = marker)]
    marker: Option<String>,
    /// Vote at every N-th marker, instead of as often as --overhead allows
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "overhead")]
    every: Option<u64>,
    /// Vote so seldom that markers take at most this share of the time [default: 2%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    overhead: Option<f64>,
    /// Of leads: choose so many, or one for each call path if there are more [default: 9]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    k: Option<u32>,
    /// Of leads: how they are chosen among ranks of one call path [default: farthest]
    #[arg(long, value_name = "HOW")]
    select: Option<SelectArg>,
    /// Of leads: ranks whose calls have other counts, tags or types are not alike
    #[arg(long)]
    parameters: bool,
    /// Of strata: adapt strata and sample after so many steps [default: 16]
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u32).range(1..))]
    window: Option<u32>,
    /// Of strata: sample so many ranks that the mean effort is off by at most this share of it, at 95%
    /// confidence [default: 5%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    error: Option<f64>,
    /// Say on standard error of rank 0 how recording goes: step, state, leads, bytes, overhead
    #[arg(long)]
    progress: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    /// Every event of every rank; given, also how much memory and how many bytes each rank took
    Full,
    /// Every event until the run repeats; from then on leads alone, each for the ranks that do the same
    Leads,
    /// No events: how long sampled ranks compute between calls in each step (`likewise ranks`)
    Strata,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SelectArg {
    /// Each next one is the farthest from those before
    Farthest,
    /// Medoids: the least sum of dissimilarities to the ranks that they stand for
    Medoids,
    /// At random
    Random,
}

impl ModeArg {
    fn word(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Leads => "leads",
            Self::Strata => "strata",
        }
    }
}

impl SelectArg {
    fn word(self) -> &'static str {
        match self {
            Self::Farthest => "farthest",
            Self::Medoids => "medoids",
            Self::Random => "random",
        }
    }
}

fn marker(text: &str) -> Result<String, String> {
    if ["auto", "pcontrol"].contains(&text) {
        return Ok(text.to_owned());
    }
    let (name, hash) = text.split_once('@').map_or((text, None), |(name, hash)| (name, Some(hash)));
    if CallId::named(name).is_none() {
        let why = "no call of MPI that is recorded; auto, pcontrol, or a call such as MPI_Allreduce";
        return Err(format!("'{name}' is {why}"));
    }
    let is_hash =
        |hash: &str| (1..=32).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    match hash.is_none_or(is_hash) {
        true => Ok(text.to_owned()),
        false => {
            Err("after @ stand the first hexadecimal digits of a hash that `likewise info` shows".to_owned())
        }
    }
}

/// A share, such as `2%` or `0.02`.
fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let share =
        number.trim().parse::<f64>().map_err(|_| "not a share, such as 2% or 0.02".to_owned())? * unit;
    match share > 0.0 && share < 1.0 {
        true => Ok(share),
        false => Err("it must be above 0 and below 100%".to_owned()),
    }
}

impl ModeArgs {
    /// What the environment of the program has. `of_events` are options that
    /// say what is kept of each event, and whether they are given.
    ///
    /// # Errors
    /// An option belongs to another mode.
    pub(crate) fn variables(
        &self,
        of_events: &[(&'static str, bool)],
    ) -> Result<Vec<(&'static str, OsString)>> {
        self.check(of_events)?;
        let mode = self.mode.map(|mode| mode.word().to_owned());
        let number = |n: u64| n.to_string();
        let all = [
            ("LIKEWISE_MODE", mode),
            ("LIKEWISE_MARKER", self.marker.clone()),
            ("LIKEWISE_EVERY", self.every.map(number)),
            ("LIKEWISE_OVERHEAD", self.overhead.map(|share| share.to_string())),
            ("LIKEWISE_K", self.k.map(u64::from).map(number)),
            ("LIKEWISE_SELECT", self.select.map(|select| select.word().to_owned())),
            ("LIKEWISE_PARAMETERS", self.parameters.then(|| "1".to_owned())),
            ("LIKEWISE_WINDOW", self.window.map(u64::from).map(number)),
            ("LIKEWISE_ERROR", self.error.map(|share| share.to_string())),
            ("LIKEWISE_PROGRESS", self.progress.then(|| "1".to_owned())),
        ];
        Ok(all.into_iter().filter_map(|(name, value)| Some((name, value?.into()))).collect())
    }

    fn check(&self, of_events: &[(&'static str, bool)]) -> Result<()> {
        let mode = self.mode.unwrap_or(ModeArg::Full);
        let of_both = [
            ("--marker", self.marker.is_some()),
            ("--every", self.every.is_some()),
            ("--overhead", self.overhead.is_some()),
            ("--progress", self.progress),
        ];
        let of_leads = [
            ("--k", self.k.is_some()),
            ("--select", self.select.is_some()),
            ("--parameters", self.parameters),
        ];
        let of_strata = [("--window", self.window.is_some()), ("--error", self.error.is_some())];
        let given = |options: &[(&'static str, bool)], wanted: &'static str| {
            options.iter().find(|(_, given)| *given).map(|(name, _)| (*name, wanted))
        };
        let said = match mode {
            ModeArg::Leads => given(&of_strata, "--mode strata"),
            ModeArg::Strata => given(&of_leads, "--mode leads")
                .or_else(|| given(of_events, "--mode full or --mode leads, which keep events")),
            ModeArg::Full => given(&of_leads, "--mode leads")
                .or_else(|| given(&of_strata, "--mode strata"))
                .or_else(|| given(&of_both, "--mode leads or --mode strata")),
        };
        match said {
            None => Ok(()),
            Some((name, wanted)) => {
                let here = if self.mode.is_some() { "this mode" } else { "full recording (the default)" };
                Err(Usage(format!("{name} has no meaning in {here}: leave it out, or give {wanted}")).into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        modes: ModeArgs,
    }

    fn variables(line: &str) -> Result<String, String> {
        let line = Line::try_parse_from(["record"].into_iter().chain(line.split_whitespace()));
        let all = line
            .map_err(|error| error.to_string())?
            .modes
            .variables(&[("--times", false)])
            .map_err(|error| error.to_string())?;
        let one = |(name, value): &(&str, OsString)| {
            format!("{}={}", name.trim_start_matches("LIKEWISE_"), value.to_string_lossy())
        };
        Ok(all.iter().map(one).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn what_is_given_is_in_the_environment_and_nothing_else() {
        let is = |line: &str, expected: &str| assert_eq!(variables(line).as_deref(), Ok(expected), "{line}");
        is("", "");
        is("--mode full", "MODE=full");
        is("--mode leads", "MODE=leads");
        is(
            "--mode leads --marker MPI_Allreduce@886917D0 --every 10 --k 4 --select medoids --parameters --progress",
            "MODE=leads MARKER=MPI_Allreduce@886917D0 EVERY=10 K=4 SELECT=medoids PARAMETERS=1 PROGRESS=1",
        );
        is("--mode strata --window 8 --error 2.5% --every 2", "MODE=strata EVERY=2 WINDOW=8 ERROR=0.025");
        is("--mode leads --marker pcontrol --overhead 2%", "MODE=leads MARKER=pcontrol OVERHEAD=0.02");
        is("--mode leads --overhead 0.005 --marker auto", "MODE=leads MARKER=auto OVERHEAD=0.005");
    }

    #[test]
    fn what_has_no_meaning_is_refused_with_what_to_do() {
        let fails = |line: &str, words: &str| {
            let error = variables(line).expect_err(line);
            assert!(error.contains(words), "{line}: {error}");
        };
        fails(
            "--k 3",
            "--k has no meaning in full recording (the default): leave it out, or give --mode leads",
        );
        fails("--mode full --progress", "or give --mode leads or --mode strata");
        fails("--mode strata --k 3", "--k has no meaning in this mode: leave it out, or give --mode leads");
        fails("--mode leads --error 1%", "--mode strata");
        fails("--window 3", "--mode strata");
        fails("--mode strata --window 0", "0");
        fails("--mode leads --marker MPI_Nothing", "'MPI_Nothing' is no call of MPI");
        fails("--mode leads --marker MPI_Send@xyz", "hexadecimal");
        fails("--mode leads --marker MPI_Send@", "hexadecimal");
        fails("--mode leads --overhead 2", "below 100%");
        fails("--mode leads --overhead 0%", "above 0");
        fails("--mode leads --overhead NaN", "above 0");
        fails("--mode leads --overhead 1% --every 2", "cannot be used with");
        fails("--mode leads --k 0", "0");
        let strata = Line::try_parse_from(["record", "--mode", "strata"]).expect("it is right").modes;
        let error =
            strata.variables(&[("--times", false), ("--counters", true)]).expect_err("refused").to_string();
        assert!(error.contains("--counters has no meaning in this mode"), "{error}");
    }
}

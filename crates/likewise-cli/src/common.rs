//! What every command understands, and how it speaks to people.

use crate::escape;
use crate::progress::{self, Progress};
use crate::seen::Seen;
use clap::{Args, ColorChoice};
pub(crate) use likewise_analysis::{Bar, ToldElsewhere, Usage, Watch};
use likewise_mpi::Launcher;
use std::io::Write;

/// Names of columns in one argument, with commas between them; those that
/// hold commas are in double quotes, as in CSV.
#[derive(Clone, Debug)]
pub(crate) struct Names(Vec<String>);

impl std::str::FromStr for Names {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut names = vec![String::new()];
        let (mut quoted, mut chars) = (false, text.chars().peekable());
        while let Some(c) = chars.next() {
            let name = names.last_mut().expect("one at least");
            match c {
                '"' if quoted && chars.peek() == Some(&'"') => name.extend(chars.next()),
                '"' if quoted => quoted = false,
                '"' if name.is_empty() => quoted = true,
                ',' if !quoted => names.push(String::new()),
                c => name.push(c),
            }
        }
        match names.iter().any(String::is_empty) {
            true => Err("a name is empty".to_owned()),
            false if quoted => Err("a quote is not closed".to_owned()),
            false => Ok(Self(names)),
        }
    }
}

impl Names {
    /// Those of all arguments.
    pub(crate) fn all(arguments: &[Self]) -> Vec<String> {
        arguments.iter().flat_map(|names| names.0.iter().cloned()).collect()
    }
}

/// What every subcommand understands.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Common {
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: what was read, how long each stage took, and every phase
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Print the result as JSON instead of tables
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Use this many threads [default: all cores, under mpirun this process's share of them, and
    /// process 0 of `bursts` those of its computer]; the result does not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Colour the output; NO_COLOR is heeded
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
    #[arg(skip)]
    pub(crate) call: Call,
}

/// How the program was called.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    pub(crate) command: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) seen: Seen,
}

impl Common {
    /// As if that command were called.
    #[cfg(test)]
    pub(crate) fn of_call(command: &str) -> Self {
        let call = Call { command: command.to_owned(), ..Call::default() };
        Self { quiet: true, call, ..Self::default() }
    }

    /// A stage of unknown length begins; it ends when the bar is dropped.
    pub(crate) fn spinner(&self, what: &'static str) -> progress::Bar {
        Progress::new(self.quiet).spinner(what)
    }

    /// A stage that is measured in bytes begins; it ends when the bar is dropped.
    pub(crate) fn bytes(&self, what: &'static str) -> progress::Bar {
        Progress::new(self.quiet).bytes(what)
    }

    /// The same, but news are for the caller to tell.
    pub(crate) fn quieter(&self) -> Self {
        Self { quiet: true, ..self.clone() }
    }

    /// Prints a line of news for people, on standard error.
    pub(crate) fn say(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            anstream::eprintln!("{}", escape::plain(&text.to_string()));
        }
    }

    /// Prints a detail, on standard error, if asked to say more.
    pub(crate) fn tell(&self, text: impl std::fmt::Display) {
        if self.verbose {
            anstream::eprintln!("{}", escape::plain(&text.to_string()));
        }
    }

    /// Whether every phase is to be listed, however small.
    pub(crate) fn wants_all(&self) -> bool {
        self.verbose
    }

    /// Prints the result, on standard output: the JSON if asked for, else the
    /// text, which may hold colours. A reader that goes away is no failure.
    pub(crate) fn print(
        &self,
        json: &serde_json::Value,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        let (_, colour) = self.terminal();
        let mut out = anstream::stdout().lock();
        let result = if self.json {
            writeln!(out, "{}", escape::json(&format!("{json:#}")))
        } else if self.quiet {
            Ok(())
        } else if colour {
            write!(out, "{}", escape::coloured(&text()))
        } else {
            write!(out, "{}", escape::plain(&text()))
        };
        match result {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e.into()),
            _ => Ok(()),
        }
    }

    /// Columns of the terminal, and whether it takes colours.
    pub(crate) fn terminal(&self) -> (usize, bool) {
        let out = std::io::stdout();
        let colour = anstream::AutoStream::choice(&out) != anstream::ColorChoice::Never;
        let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        let width = columns.or_else(|| terminal_size::terminal_size().map(|(w, _)| usize::from(w.0)));
        (width.unwrap_or(100).max(40), colour)
    }

    pub(crate) fn apply(&self) {
        let launcher = Launcher::of_this_process();
        match self.color {
            // Under a launcher there are none: `cli::together` has seen to it.
            ColorChoice::Auto => {}
            ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
            ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
        }
        let threads = self.threads.map(usize::from);
        // Processes of one computer share its cores.
        let threads = threads.or_else(|| launcher.map(|launcher| launcher.threads()));
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        likewise_trace::keep_memory_for(threads.unwrap_or_else(cores));
        if let Some(threads) = threads {
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        }
    }
}

impl Watch for Common {
    fn spinner(&self, what: &'static str) -> Box<dyn Bar> {
        Box::new(Self::spinner(self, what))
    }

    fn bytes(&self, what: &'static str) -> Box<dyn Bar> {
        Box::new(Self::bytes(self, what))
    }

    fn say(&self, news: &str) {
        Self::say(self, news);
    }

    fn tell(&self, detail: &str) {
        Self::tell(self, detail);
    }
}

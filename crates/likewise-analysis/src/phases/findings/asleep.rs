//! Long bursts in which threads sleep while no other computes, in words.

use super::names::{Names, Who};
use likewise::bursts::{Finding, FindingKind, Findings};
use likewise::table::Moment;
use likewise::words::{capital, percent};

/// The sentence.
pub(super) fn asleep(finding: &Finding, names: &Names) -> String {
    let FindingKind::Asleep { bursts, duration, longest, by_cycles } = finding.kind else {
        return String::new();
    };
    let Who { text: threads, plural } = names.who(&finding.threads);
    let (who, is, begin, share) =
        (capital(&threads), if plural { "are" } else { "is" }, Moment(finding.begin), percent(finding.share));
    let hardly = if by_cycles { "count hardly any cycles" } else { "are hardly on a core" };
    let meanwhile = match (names.all.len(), bursts) {
        (1, _) => "",
        (_, 1) => ", while no other computes",
        _ => ", while no thread computes",
    };
    let why = "(preempted, asleep, or in the system)";
    if bursts == 1 {
        let hardly = hardly.replacen("count", "counts", 1).replacen("are", "is", 1);
        return format!(
            "{who} {is} in one burst for {duration} at {begin} and {hardly} {why}{meanwhile}: {share} of the run."
        );
    }
    let on = if plural { format!(" on {}", names.one(longest)) } else { String::new() };
    format!(
        "{who} {is} in {bursts} long bursts that {hardly} {why}, the longest {duration} at {begin}{on}{meanwhile}: {share} \
         of the run in all."
    )
}

/// What is added to how much of the run no thread computes, where such bursts are among the findings.
pub(super) fn of_idle(found: &Findings) -> String {
    let is_asleep = |finding: &&Finding| matches!(finding.kind, FindingKind::Asleep { .. });
    let share: f64 = found.list.iter().filter(is_asleep).map(|finding| finding.share).sum();
    match share > 0.0 {
        true => format!(
            " In {} of the run a thread is in a long burst in which it hardly computes.",
            percent(share)
        ),
        false => String::new(),
    }
}

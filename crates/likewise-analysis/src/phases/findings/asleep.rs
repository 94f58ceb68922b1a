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

#[cfg(test)]
mod tests {
    use super::*;
    use likewise::bursts::{Scope, ThreadName};
    use likewise::table::Nanos;

    #[test]
    fn who_sleeps_while_none_computes_is_named() {
        let names = |tasks: &[u32]| -> Vec<ThreadName> {
            tasks.iter().map(|&task| ThreadName { task, thread: 1 }).collect()
        };
        let told = |bursts: u64, by_cycles: bool, of: &[u32], n_tasks: u32| {
            let all = names(&(1..=n_tasks).collect::<Vec<u32>>()).into_iter().collect();
            let names_of_run = Names { all, with_threads: false, is_hybrid: false, in_parallel: false };
            let longest = ThreadName { task: of[0], thread: 1 };
            let kind = FindingKind::Asleep { bursts, duration: Nanos(46_400_000), longest, by_cycles };
            let finding = Finding {
                share: 0.03,
                threads: names(of),
                begin: Nanos(1_940_000_000),
                ..Finding::of(kind, Scope::Run)
            };
            asleep(&finding, &names_of_run)
        };
        assert_eq!(
            told(1, true, &[14], 16),
            "Task 14 is in one burst for 46.4 ms at 1.94 s and counts hardly any cycles (preempted, asleep, or in the \
             system), while no other computes: 3.0% of the run."
        );
        assert_eq!(
            told(3, true, &[2, 5], 16),
            "Tasks 2 and 5 are in 3 long bursts that count hardly any cycles (preempted, asleep, or in the system), the \
             longest 46.4 ms at 1.94 s on task 2, while no thread computes: 3.0% of the run in all."
        );
        assert_eq!(
            told(1, false, &[1], 1),
            "Task 1 is in one burst for 46.4 ms at 1.94 s and is hardly on a core (preempted, asleep, or in the system): \
             3.0% of the run."
        );
        let kind = FindingKind::Asleep {
            bursts: 1,
            duration: Nanos(1),
            longest: ThreadName { task: 1, thread: 1 },
            by_cycles: true,
        };
        let list = vec![Finding { share: 0.25, ..Finding::of(kind, Scope::Run) }];
        let said = of_idle(&Findings { list, ..Findings::default() });
        assert!(said.contains("In 25.0% of the run a thread is in a long burst"), "{said}");
        assert_eq!(of_idle(&Findings::default()), "");
    }
}

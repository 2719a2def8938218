//! What checking a run gave, for people and as JSON.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Args, FailOn};
use crate::output::{count_of, group_digits};
use crate::runs::refold::RefoldResult;
use crate::select::RunSource;
use crate::views::changed::{list, side};
use crate::views::left::{left_alone, left_as_json};
use retold::check::{DecisionCheck, DecisionPart, DecisionSide, New};
use retold::escaping::printable;
use retold::id::RunId;
use retold::members::Members;

/// How much of a name is shown.
const SHOWN: usize = 40;

/// The names of decisions: of those that were compared, and of the new ones.
#[derive(Default)]
pub(super) struct DecisionNames {
    from: BTreeSet<String>,
    to: BTreeSet<String>,
}

impl DecisionNames {
    /// Adds those of one new decision and of the one that it is compared with.
    pub(super) fn add(&mut self, from: Option<&str>, to: &str) {
        if let Some(from) = from.filter(|from| !self.from.contains(*from)) {
            self.from.insert(from.to_owned());
        }
        if !self.to.contains(to) {
            self.to.insert(to.to_owned());
        }
    }

    /// The names of the accepted decisions, and of those beside which they are in force.
    fn text(&self) -> String {
        let join = |names: Vec<&String>| {
            names.into_iter().map(|name| printable(name, SHOWN)).collect::<Vec<_>>().join(", ")
        };
        let to = join(self.to.iter().collect());
        let beside = join(self.from.difference(&self.to).collect());
        match beside.as_str() {
            "" => format!("as {to}"),
            _ => format!("as {to}, beside {beside}, which --name would replace"),
        }
    }
}

/// The results for one run.
pub(super) struct CheckResults {
    pub(super) source: Arc<RunSource>,
    /// The name of the decisions, if a file gives it.
    pub(super) decision: Option<String>,
    pub(super) checked: DecisionCheck,
    pub(super) names: DecisionNames,
    pub(super) accepted: Option<RunId>,
    /// The run in which the same decisions were accepted before.
    pub(super) known: Option<RunId>,
    /// The runs of decisions that were accepted about its answers before.
    pub(super) earlier: Vec<RunId>,
    /// Whether there was nothing to accept, because the recorded decisions are the same.
    pub(super) is_nothing_new: bool,
    /// The changes that the new decisions would make in the run.
    pub(super) refolded: Option<RefoldResult>,
}

impl CheckResults {
    /// Whether there was no answer to decide about.
    pub(super) fn is_empty(&self) -> bool {
        self.checked.decisions == 0 && self.checked.new.is_empty()
    }

    /// Whether the check fails.
    pub(super) fn fails(&self, args: &Args) -> bool {
        let DecisionCheck { changed, unfaithful, found, flipped, .. } = &self.checked;
        if args.fail_on.is_empty() {
            let differs = !changed.is_empty() || !unfaithful.is_empty();
            return differs && !args.accept;
        }
        args.fail_on.iter().any(|what| match what {
            FailOn::Flips => !flipped.is_empty(),
            FailOn::MethodDrop => found.to < found.from,
        })
    }
}

/// The results, as JSON.
pub(super) fn object(found: &CheckResults) -> Value {
    let CheckResults {
        source,
        decision,
        checked,
        names,
        accepted,
        known,
        earlier,
        is_nothing_new: _,
        refolded,
    } = found;
    let DecisionCheck {
        run,
        new,
        left,
        parser_from,
        parser_to,
        decisions,
        flipped,
        altered,
        changed,
        by_method,
        verdicts,
        found,
        unfaithful,
    } = checked;
    let table = |pick: fn(&(u64, u64)) -> u64| -> Value {
        verdicts.iter().map(|(k, v)| ((*k).to_owned(), json!(pick(v)))).collect()
    };
    let count = |part: &DecisionPart| changed.get(part).copied().unwrap_or(0);
    let parts = DecisionPart::ALL.iter().map(|part| (part.as_str().to_owned(), json!(count(part))));
    let mut object = json!({
        "run": source.file.is_none().then_some(run),
        "file": source.file,
        "new": new.len(),
        "new_decisions": new,
        "left": left_as_json(left),
        "accepted": accepted,
        "accepted_before": known,
        "accepted_earlier": earlier,
        "parser_from": parser_from.join(", "),
        "parser_to": parser_to.join(", "),
        "names_from": names.from,
        "names": names.to,
        "decisions": decisions,
        "flips": flipped.len(),
        "changed": parts.collect::<serde_json::Map<_, _>>(),
        "by_method": by_method,
        "verdicts_from": table(|v| v.0),
        "verdicts_to": table(|v| v.1),
        "unfaithful": unfaithful,
        "found": found,
        "refold": refolded.as_ref().map(RefoldResult::json),
        "flipped": flipped,
        "altered": altered,
        "simulated": source.simulated,
    });
    if let Some(decision) = decision {
        object.set("decision", json!(decision));
    }
    object
}

/// The results, for people; at most so many changed decisions and new ones.
pub(super) fn text(found: &CheckResults, most: usize) -> String {
    let CheckResults {
        source,
        decision,
        checked,
        names,
        accepted,
        known,
        earlier,
        is_nothing_new,
        refolded,
    } = found;
    let DecisionCheck {
        run: _,
        new,
        left,
        parser_from,
        parser_to,
        decisions,
        flipped,
        altered,
        changed,
        by_method,
        verdicts,
        found,
        unfaithful,
    } = checked;
    let source = source.name();
    let name = match decision {
        Some(decision) => format!("{}, {source}", printable(decision, SHOWN)),
        None => source.clone(),
    };
    let mut out = String::new();
    // Writing to a string cannot fail, here and below.
    if *decisions == 0 && new.is_empty() {
        let _ = writeln!(out, "{name} has no decisions to check");
        left_alone(&mut out, left);
        return out;
    }
    if !new.is_empty() {
        let has_others = new.iter().any(|new| new.choice.at > 0);
        let what = if has_others { "choice" } else { "answer" };
        let decided = count_of(new.len() as u64, what);
        let _ = writeln!(
            out,
            "{name}: {decided} without a decision, decided by {}",
            parser_to.join(", ")
        );
    }
    if *decisions > 0 {
        let _ = writeln!(
            out,
            "{name}: {} from {} to {}: {}",
            count_of(*decisions, "decision"),
            parser_from.join(", "),
            parser_to.join(", "),
            count_of(flipped.len() as u64, "flip")
        );
    }
    let parts = DecisionPart::ALL.iter().filter_map(|part| Some((part, changed.get(part)?)));
    let parts: Vec<String> =
        parts.map(|(p, n)| format!("{} {}", p.as_str(), group_digits(*n))).collect();
    if !parts.is_empty() {
        let _ = writeln!(out, "decisions that change: {}", parts.join(", "));
    } else if *decisions > 0 {
        out.push_str("value, method, reasoning and warnings: the same in every decision\n");
    }
    if found.from != found.to {
        let _ = writeln!(
            out,
            "found by a strategy, not by a last resort: {} -> {} of {}",
            group_digits(found.from),
            group_digits(found.to),
            group_digits(found.of)
        );
    }
    if !unfaithful.is_empty() {
        let _ = writeln!(
            out,
            "{} differ from what the recorded parser version decides today; the first is at seq {}",
            count_of(unfaithful.len() as u64, "decision"),
            unfaithful[0]
        );
    }
    left_alone(&mut out, left);
    let _ = writeln!(out, "\nmethod recorded -> method now");
    for (from, now) in by_method {
        for (to, n) in now {
            let _ = writeln!(out, "  {from:<22} -> {to:<22}{:>9}", group_digits(*n));
        }
    }
    if !verdicts.is_empty() {
        let share = |n: u64, of: u64| 100.0 * n as f64 / of.max(1) as f64;
        let all = decisions + new.len() as u64;
        let _ = writeln!(out, "\nverdict{:>30}{:>20}", "recorded", "now");
        for (verdict, (from, to)) in verdicts {
            let _ = writeln!(
                out,
                "  {verdict:<16}{:>9} {:>6.2} %  {:>9} {:>6.2} %",
                group_digits(*from),
                share(*from, *decisions),
                group_digits(*to),
                share(*to, all)
            );
        }
        if let Some((from, to)) = verdicts.get("valid") {
            let (from, to) = (share(*from, *decisions), share(*to, all));
            let _ = match *decisions {
                0 => writeln!(out, "solve rate {to:.2} %"),
                _ => writeln!(
                    out,
                    "solve rate {from:.2} % -> {to:.2} % ({:+.2} percentage points)",
                    to - from
                ),
            };
        }
    }
    if !new.is_empty() && most > 0 {
        let _ = writeln!(out, "\nnew decisions");
    }
    for New { seq, call, sample, choice, decided } in new.iter().take(most) {
        let (decided, choice) = (side(&DecisionSide::from(decided.clone())), choice.suffix());
        let _ = writeln!(out, "  seq {seq} {call}#{sample}{choice}: {decided}");
    }
    if most > 0 && new.len() > most {
        let more = group_digits((new.len() - most) as u64);
        let _ = writeln!(out, "  and {more} more: --most N, or --json for all");
    }
    list(&mut out, "flips", flipped, most);
    list(&mut out, "same value, other changes", altered, most);
    if let Some(refolded) = refolded {
        out.push_str(&refolded.text(most));
    }
    if let Some(run) = accepted {
        let made = count_of(decisions + new.len() as u64, "decision");
        let as_names = names.text();
        let _ = writeln!(out, "\nrun {run}: {made} accepted {as_names}; {source} is as it was");
        if !earlier.is_empty() {
            let runs: Vec<String> = earlier.iter().map(ToString::to_string).collect();
            let _ = writeln!(
                out,
                "decisions about its answers were accepted before, in run {}; where they have the same name and are about the same answer, the new ones are in force",
                runs.join(", ")
            );
        }
    }
    if let Some(run) = known {
        let _ = writeln!(
            out,
            "\nno run was recorded: all these decisions were accepted before, in run {run}"
        );
    }
    if *is_nothing_new {
        let _ = writeln!(out, "\nno run was recorded: {source} has all these decisions already");
    }
    out
}

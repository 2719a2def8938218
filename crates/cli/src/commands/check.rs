//! `retold check`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::limits::prices;
use crate::output::{Output, counted, grouped};
use crate::parser::{ParamsFrom, ParserArgs, parser_file};
use crate::run_id::new_run_id;
use crate::runs::refold::{Refolded, refold, refoldable};
use crate::select::{self, Source};
use crate::views::changed::{list, side};
use crate::views::left::{left_alone, left_as_json, nothing};
use retold::check::{Checked, DecisionPart, New, Side, check};
use retold::decide::{Again, Decided, Decider, Params, Redecided, Selection};
use retold::event::{DecidedBy, DecisionDetails};
use retold::exchange::{Accepted, AcceptedDecision, accepted_about};
use retold::id::{CallPath, RunId, Sample};
use retold::log::{Backend, EventFault, LogError, Reader, SqliteBackend};
use retold::run::{OtherDecision, clock};
use retold_archive::{RunView, VerifyDepth};
use retold_study::parser_file::ParserFile;

/// Parse recorded answers again and report which decisions change: value, method, reasoning or
/// warnings.
///
/// A decision whose value changes is a flip. If you name a parser, it also decides about answers
/// that have no decision yet, such as those of imported exchanges, and about answers that another
/// program's parser decided. Exit code 1 if anything changes, or only for what --fail-on names.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Runs (first digits of the id, or `latest`) or files (recordings or exchanges).
    #[arg(required = true)]
    runs: Vec<String>,
    #[command(flatten)]
    parser: ParserArgs,
    #[command(flatten)]
    params_from: ParamsFrom,
    /// Decide with the parsers of this YAML file: each answer with the first parser whose call, model
    /// and prompt fit, whatever decided about it before. docs/parsers.md describes the file.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["parser", "parser_cmd", "params", "params_from"])]
    parsers: Option<PathBuf>,
    /// Only answers to this call or to calls below it.
    #[arg(long, value_name = "CALL")]
    call: Option<CallPath>,
    /// Record the new decisions as a new run, which refers to the original run and its answers. The
    /// original run is not changed. With this, changes do not affect the exit code. No run is
    /// recorded if the original run already has the same decisions, or if the same ones were the
    /// last to be accepted.
    #[arg(long)]
    accept: bool,
    /// Also run the experiment again with the new decisions, answered from the log: which facts
    /// change, which later prompts would differ, the headline figures before and after, and what
    /// would have to be asked again, with tokens and cost. Only for runs of studies.
    #[arg(long)]
    refold: bool,
    /// With --refold: the prices, a file like config/prices.yaml, used instead of the built-in
    /// prices.
    #[arg(long, value_name = "FILE", requires = "refold")]
    prices: Option<PathBuf>,
    /// Exit with code 1 only for this, also with --accept. Can be repeated.
    #[arg(long, value_enum, value_name = "WHAT")]
    fail_on: Vec<FailOn>,
    /// How many changed decisions, and how many new ones, to list as text; --json lists all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
}

/// What makes a check fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A value changes.
    Flips,
    /// Fewer decisions are found by a strategy, and more by a parser's last resort.
    MethodDrop,
}

/// The results for one run.
struct CheckResults {
    source: Source,
    checked: Checked,
    accepted: Option<RunId>,
    /// The run in which the same decisions were accepted before.
    known: Option<RunId>,
    /// The runs of decisions that were accepted about its answers before.
    earlier: Vec<RunId>,
    /// Whether there was nothing to accept, because the recorded decisions are the same.
    is_nothing_new: bool,
    /// What the new decisions would change in the run.
    refolded: Option<Refolded>,
}

impl CheckResults {
    /// Whether the check fails.
    fn fails(&self, args: &Args) -> bool {
        let Checked { changed, unfaithful, found, flipped, .. } = &self.checked;
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

/// What one run was checked with, and what came of it.
struct CheckedRun {
    checked: Checked,
    accepted: Option<Accepted>,
    is_nothing_new: bool,
    /// The decisions that differ from the recorded ones, if they are wanted.
    changed: BTreeMap<(CallPath, Sample), OtherDecision>,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let parsers = global.studies.parsers();
    let decider = args.parser.decider(parsers)?;
    let file = args.parsers.as_deref().map(|path| parser_file(path, parsers)).transpose()?;
    let params = args.parser.params(Some(&args.params_from))?;
    let mut sources = Vec::new();
    for name in &args.runs {
        // What is accepted is written to the log.
        let source = match args.accept {
            true => select::source(global, name)?,
            false => select::source_to_read(global, name)?,
        };
        if args.refold {
            refoldable(&source)?;
        }
        sources.push(source);
    }
    let views = sources.iter().map(|of| gate::view(&of.log, of.run, VerifyDepth::Whole, output));
    let views = views.collect::<Result<Vec<RunView>, CliError>>()?;
    for (source, view) in sources.iter_mut().zip(&views) {
        source.log = view.log();
    }
    gate::through(&views, output, || {
        check_all(sources, (decider, file, params), &args, global, output)
    })
}

/// Checks runs, and shows what was found.
fn check_all(
    sources: Vec<Source>,
    (mut decider, file, params): (Option<Box<dyn Decider + Send>>, Option<ParserFile>, Params),
    args: &Args,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let parsers = global.studies.parsers();
    let mut all = Vec::new();
    for source in sources {
        let accepted = args.accept.then(|| accepting(&source)).transpose()?;
        let by = match (&mut decider, &file) {
            (Some(decider), _) => Again::By(decider.as_mut()),
            (None, Some(file)) => Again::Chosen(file),
            (None, None) => Again::Latest,
        };
        let choice = Selection { by, params: &params, only: args.call.as_ref(), parsers };
        let done = one(&source, choice, accepted, args.refold)?;
        all.push((source, done));
    }
    let is_empty = |checked: &Checked| checked.decisions == 0 && checked.new.is_empty();
    if all.iter().all(|(_, done)| is_empty(&done.checked)) {
        let left = &all[0].1.checked.left;
        let error = nothing(&all[0].0, left, args.call.as_ref(), parsers);
        return Err(match left.undecided > 0 && args.parsers.is_none() {
            true => error.hint("--parsers FILE decides with parsers of your own, written down in YAML: docs/parsers.md describes the file"),
            false => error,
        });
    }
    let mut refolds = Vec::new();
    for (source, done) in &mut all {
        let changed = std::mem::take(&mut done.changed);
        let prices = args.refold.then(|| prices(args.prices.as_deref())).transpose()?;
        refolds.push(prices.map(|prices| refold(source, changed, &prices, global)).transpose()?);
    }
    // Nothing is written until everything has been decided.
    let found = all.into_iter().zip(refolds).map(|((source, done), refolded)| {
        let CheckedRun { checked, accepted, is_nothing_new, changed: _ } = done;
        let accepted = accepted.filter(|accepted| !accepted.is_empty());
        let (mut stored, mut known, mut earlier) = (None, None, Vec::new());
        if let Some(accepted) = accepted {
            let backend = SqliteBackend::open_or_create(&global.log, global.sqlite())?;
            known = accepted.known(backend.reader()?.as_mut())?;
            earlier = accepted_about(backend.reader()?.as_mut(), source.run)?;
            if known.is_none() {
                stored = Some(accepted.store(&backend)?);
            }
        }
        Ok(CheckResults {
            source,
            checked,
            accepted: stored,
            known,
            earlier,
            is_nothing_new,
            refolded,
        })
    });
    let found = found.collect::<Result<Vec<_>, CliError>>()?;
    let unused = params.unused();
    if output.is_json() {
        let mut objects: Vec<Value> = found.iter().map(object).collect();
        for object in &mut objects {
            object["unused_params"] = json!(unused);
        }
        match objects.as_slice() {
            [one] => output.object(one)?,
            several => output.object(&json!({"checks": several}))?,
        }
    } else {
        let texts = found.iter().map(|found| {
            let simulated = if found.source.simulated { select::SIMULATED } else { "" };
            format!("{simulated}{}", text(found, args.most))
        });
        let mut text = texts.collect::<Vec<_>>().join("\n");
        if let Some(first) = unused.first() {
            let lines = counted(unused.len() as u64, "line");
            let _ = writeln!(text, "settings that no answer needed: {lines}, first line {first}");
        }
        output.text(&text)?;
    }
    let fails = found.iter().any(|found| found.fails(args));
    Ok(if fails { Status::Difference } else { Status::Fine })
}

/// Starts a run for the decisions about another, which must be sound, because a run cannot be
/// deleted later.
fn accepting(source: &Source) -> Result<Accepted, CliError> {
    if source.file.is_some() {
        return Err(CliError::usage(format!(
            "{}: --accept needs a run, and this is a file of exchanges",
            source.name()
        ))
        .hint("import it first, with `retold import FILE`"));
    }
    let mut reader = source.log.reader()?;
    let verified = select::sound(reader.as_mut(), source.run, "nothing was accepted")?;
    let started = select::started(reader.as_mut(), source.run)?;
    Ok(Accepted::begin(new_run_id()?, source.run, verified.head, &started, clock::now())?)
}

/// Checks one run. What is accepted is dropped if it is what the run has already, by the same
/// parsers with the same settings; the last value says so.
fn one(
    source: &Source,
    choice: Selection<'_>,
    mut accepted: Option<Accepted>,
    keep_changed: bool,
) -> Result<CheckedRun, CliError> {
    let mut reader = source.checked()?;
    let (mut same_parsers, mut different) = (true, BTreeMap::new());
    let checked = check(&mut reader, source.run, choice, |reader, made| {
        same_parsers &= made.recorded.as_ref() == Some(&made.by);
        if keep_changed && let Some(other) = other_decision(made) {
            different.insert((made.answer.call.clone(), made.answer.sample), other);
        }
        match &mut accepted {
            Some(accepted) => accept(accepted, reader, source.run, made),
            None => Ok(()),
        }
    })?;
    let is_known = same_parsers && checked.changed.is_empty();
    let is_nothing_new = is_known && accepted.as_ref().is_some_and(|new| !new.is_empty());
    let accepted = accepted.filter(|_| !is_known);
    Ok(CheckedRun { checked, accepted, is_nothing_new, changed: different })
}

/// A decision, if it is not the recorded one. An answer without a decision has none to replace.
fn other_decision(made: &Redecided) -> Option<OtherDecision> {
    let Redecided { answer, now, .. } = made;
    let (_, recorded) = answer.decision.as_ref()?;
    let DecisionDetails { reasoning, value, warnings } = &recorded.details;
    let is_same = (&recorded.by.method, value, reasoning, warnings)
        == (&now.method, &now.value, &now.reasoning, &now.warnings);
    let Decided { method, value, reasoning, warnings, .. } = now.clone();
    (!is_same).then_some(OtherDecision { method, value, reasoning, warnings })
}

/// Adds a decision to the accepted ones.
fn accept(
    accepted: &mut Accepted,
    reader: &mut dyn Reader,
    run: RunId,
    made: &Redecided,
) -> Result<(), CliError> {
    let Redecided { answer, by, now, .. } = made;
    let missing = EventFault::NoRequest { prompt: answer.prompt };
    let request = reader.request(answer.prompt)?;
    let request = request.ok_or_else(|| LogError::corrupt(run, answer.seq, missing))?;
    let Decided { method, value, reasoning, warnings, .. } = now.clone();
    let parser = serde_json::to_value(by)
        .map_err(|e| CliError::usage(format!("the parser cannot be written as JSON: {e}")))?;
    let decision = AcceptedDecision {
        call: answer.call.clone(),
        sample: answer.sample,
        content: answer.content.clone(),
        seq: answer.seq,
        beside: answer.beside.clone(),
        by: DecidedBy { method, parser },
        details: DecisionDetails { reasoning, value, warnings },
    };
    Ok(accepted.decision(decision, request)?)
}

fn object(found: &CheckResults) -> Value {
    let CheckResults { source, checked, accepted, known, earlier, is_nothing_new: _, refolded } =
        found;
    let Checked {
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
    json!({
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
        "decisions": decisions,
        "flips": flipped.len(),
        "changed": parts.collect::<serde_json::Map<_, _>>(),
        "by_method": by_method,
        "verdicts_from": table(|v| v.0),
        "verdicts_to": table(|v| v.1),
        "unfaithful": unfaithful,
        "found": found,
        "refold": refolded.as_ref().map(Refolded::json),
        "flipped": flipped,
        "altered": altered,
        "simulated": source.simulated,
    })
}

fn text(found: &CheckResults, most: usize) -> String {
    let CheckResults { source, checked, accepted, known, earlier, is_nothing_new, refolded } =
        found;
    let Checked {
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
    let name = source.name();
    let mut out = String::new();
    // Writing to a string cannot fail, here and below.
    if *decisions == 0 && new.is_empty() {
        let _ = writeln!(out, "{name} has no decisions to check");
        left_alone(&mut out, left);
        return out;
    }
    if !new.is_empty() {
        let answers = counted(new.len() as u64, "answer");
        let _ = writeln!(
            out,
            "{name}: {answers} without a decision, decided by {}",
            parser_to.join(", ")
        );
    }
    if *decisions > 0 {
        let _ = writeln!(
            out,
            "{name}: {} from {} to {}: {}",
            counted(*decisions, "decision"),
            parser_from.join(", "),
            parser_to.join(", "),
            counted(flipped.len() as u64, "flip")
        );
    }
    let parts = DecisionPart::ALL.iter().filter_map(|part| Some((part, changed.get(part)?)));
    let parts: Vec<String> =
        parts.map(|(p, n)| format!("{} {}", p.as_str(), grouped(*n))).collect();
    if !parts.is_empty() {
        let _ = writeln!(out, "decisions that change: {}", parts.join(", "));
    } else if *decisions > 0 {
        out.push_str("value, method, reasoning and warnings: the same in every decision\n");
    }
    if found.from != found.to {
        let _ = writeln!(
            out,
            "found by a strategy, not by a last resort: {} -> {} of {}",
            grouped(found.from),
            grouped(found.to),
            grouped(found.of)
        );
    }
    if !unfaithful.is_empty() {
        let _ = writeln!(
            out,
            "{} differ from what the recorded parser version decides today; the first is at seq {}",
            counted(unfaithful.len() as u64, "decision"),
            unfaithful[0]
        );
    }
    left_alone(&mut out, left);
    let _ = writeln!(out, "\nmethod recorded -> method now");
    for (from, now) in by_method {
        for (to, n) in now {
            let _ = writeln!(out, "  {from:<22} -> {to:<22}{:>9}", grouped(*n));
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
                grouped(*from),
                share(*from, *decisions),
                grouped(*to),
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
    for New { seq, call, sample, decided } in new.iter().take(most) {
        let decided = side(&Side::from(decided.clone()));
        let _ = writeln!(out, "  seq {seq} {call}#{sample}: {decided}");
    }
    if most > 0 && new.len() > most {
        let more = grouped((new.len() - most) as u64);
        let _ = writeln!(out, "  and {more} more: --most N, or --json for all");
    }
    list(&mut out, "flips", flipped, most);
    list(&mut out, "same value, other changes", altered, most);
    if let Some(refolded) = refolded {
        out.push_str(&refolded.text(most));
    }
    if let Some(run) = accepted {
        let made = counted(decisions + new.len() as u64, "decision");
        let _ = writeln!(out, "\nrun {run}: {made} accepted; {name} is as it was");
        if !earlier.is_empty() {
            let runs: Vec<String> = earlier.iter().map(ToString::to_string).collect();
            let _ = writeln!(
                out,
                "decisions about its answers were accepted before, in run {}; where they are about the same answer, the new ones are in force",
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
        let _ = writeln!(out, "\nno run was recorded: {name} has all these decisions already");
    }
    out
}

//! Decides again about the answers of recorded runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Args;
use super::results::{CheckResults, DecisionNames};
use super::shown::ShownChecks;

use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::output::Output;
use crate::parser::{ParserChoice, each_of};
use crate::runs::accepting;
use crate::runs::refold::{RefoldResult, refold, refoldable};
use crate::select::{self, RunSource};
use crate::views::left::nothing;
use rayon::prelude::*;
use retold::check::{DecisionCheck, check};
use retold::decide::{Again, ParserParams, RevisedDecision, Selection};
use retold::decided::replaced_decisions;
use retold::exchange::{AcceptedRun, accepted_about};
use retold::id::{CallPath, Sample, Seq};
use retold::model::Prices;
use retold::run::OtherDecision;
use retold::scores::{accept_revised, revised_name};

/// What one run was checked with, and what came of it.
struct CheckedRun {
    /// The decisions of each name.
    checked: Vec<CheckedName>,
    accepted: Option<AcceptedRun>,
    is_nothing_new: bool,
    /// The changes that the new decisions would make in the run, if they are wanted.
    refolded: Option<RefoldResult>,
}

/// The decisions of one name about a run.
struct CheckedName {
    /// The name, if a file gives it.
    decision: Option<String>,
    checked: DecisionCheck,
    names: DecisionNames,
    /// Whether the run has all these decisions already.
    is_known: bool,
}

pub(super) fn run(args: &Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    if args.accept && args.parser.parser_cmd.is_some() && args.name.is_none() {
        return Err(CliError::usage("the decisions of a program have no name of their own")
            .hint("--name NAME gives them one; it replaces only decisions with this name"));
    }
    let parsers = args.parser.choice(global.studies.parsers())?;
    if args.name.is_some() {
        parsers.refuse_several("--name")?;
    }
    if args.refold {
        parsers.refuse_several("--refold")?;
    }
    let params = args.parser.params()?;
    // Accepted decisions are written to the log.
    let mut sources = match args.accept {
        true => select::sources_to_write(global, &args.runs)?,
        false => select::sources_to_read(global, &args.runs)?,
    };
    if args.refold {
        sources.iter().try_for_each(refoldable)?;
    }
    let views = gate::views(&select::runs_of(&sources))?;
    for (source, view) in sources.iter_mut().zip(&views) {
        source.log = view.log();
    }
    gate::through(&views, output, || check_all(sources, parsers, &params, args, global, output))
}

/// Checks runs, and shows the results of each as soon as they are known, in the order of the runs.
fn check_all(
    sources: Vec<RunSource>,
    choice: ParserChoice,
    params: &ParserParams,
    args: &Args,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let mut shown = ShownChecks::new(args, output, sources.len() > 1 || choice.count() > 1);
    let prices = args.refold.then(|| args.again.model.prices()).transpose()?;
    let settings = CheckSettings { params, prices: prices.as_ref(), args, global };
    let ended = decide_in_waves(sources, choice, settings, |checked| shown.add(checked));
    let nothing = |checked: &CheckResults| {
        let (parsers, left) = (global.studies.parsers(), &checked.checked.left);
        let error = nothing(&checked.source, left, args.call.as_ref(), parsers);
        match left.undecided > 0 && args.parser.parsers.is_none() {
            true => error.hint("--parsers FILE decides with parsers of your own, written down in YAML: docs/parsers.md describes the file"),
            false => error,
        }
    };
    shown.end(ended, &params.unused_lines(), nothing)
}

/// For how many runs on each core all that is found is held in memory before it is passed on.
const WAVE: usize = 4;

/// What all runs are checked with.
#[derive(Clone, Copy)]
struct CheckSettings<'a> {
    params: &'a ParserParams,
    /// For what would have to be asked again, if that is wanted.
    prices: Option<&'a Prices>,
    args: &'a Args,
    global: &'a Global<'a>,
}

/// Checks runs on all cores, and passes on the results of a few at a time. Decisions are accepted only if all runs
/// could be checked.
fn decide_in_waves(
    sources: Vec<RunSource>,
    mut choice: ParserChoice,
    settings: CheckSettings<'_>,
    mut found: impl FnMut(CheckResults) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let CheckSettings { args, global, .. } = settings;
    let parsers = global.studies.parsers();
    let mut sources = sources.into_iter();
    let is_program = args.parser.parser_cmd.is_some();
    let together = match (args.accept, is_program) {
        (true, _) => usize::MAX,
        (false, true) => 1,
        (false, false) => WAVE * rayon::current_num_threads(),
    };
    loop {
        let wave: Vec<RunSource> = sources.by_ref().take(together).collect();
        if wave.is_empty() {
            return Ok(());
        }
        let done: Vec<Result<CheckedRun, CliError>> = match &mut choice {
            // A program decides about one run after the other.
            choice if is_program => {
                wave.iter().map(|source| one(source, choice.each(), settings)).collect()
            }
            choice => {
                let file = match choice {
                    ParserChoice::File(file) => Some(&*file),
                    _ => None,
                };
                // A parser keeps its computed results to itself, so each run has its own parser.
                let checked = wave.par_iter().map(|source| {
                    let mut own = args.parser.decider(parsers)?;
                    let deciding = match (&mut own, file) {
                        (Some(own), _) => vec![(Again::By(own.as_mut()), None)],
                        (None, Some(file)) => each_of(file),
                        (None, None) => vec![(Again::Latest, None)],
                    };
                    one(source, deciding, settings)
                });
                checked.collect()
            }
        };
        // Of several that cannot be checked, the first is named.
        let done = done.into_iter().collect::<Result<Vec<CheckedRun>, CliError>>()?;
        for (source, done) in wave.into_iter().zip(done) {
            store_accepted(source, done, global)?.into_iter().try_for_each(&mut found)?;
        }
    }
}

/// Accepts the new decisions about a run, if that is wanted.
fn store_accepted(
    source: RunSource,
    done: CheckedRun,
    global: &Global,
) -> Result<Vec<CheckResults>, CliError> {
    let CheckedRun { checked, accepted, is_nothing_new, mut refolded } = done;
    let accepted = accepted.filter(|accepted| !accepted.is_empty());
    let (mut stored, mut known, mut earlier) = (None, None, Vec::new());
    if let Some(accepted) = accepted {
        let backend = global.open_or_create()?;
        earlier = accepted_about(backend.reader()?.as_mut(), source.run)?;
        (stored, known) = accepting::store(accepted, backend.as_ref())?;
    }
    let (source, accepted) = (Arc::new(source), stored);
    let results = checked.into_iter().map(|CheckedName { decision, checked, names, .. }| {
        let (source, earlier, refolded) = (source.clone(), earlier.clone(), refolded.take());
        CheckResults {
            source,
            decision,
            checked,
            names,
            accepted,
            known,
            earlier,
            is_nothing_new,
            refolded,
        }
    });
    Ok(results.collect())
}

/// Checks one run. Accepted decisions are dropped if the run has them already, by the same parsers with the same
/// settings, and nothing that was accepted since has replaced them.
fn one<'a>(
    source: &RunSource,
    deciding: Vec<(Again<'a>, Option<&'a str>)>,
    settings: CheckSettings<'a>,
) -> Result<CheckedRun, CliError> {
    let CheckSettings { prices, args, global, .. } = settings;
    let mut making = Making {
        accepted: args.accept.then(|| accepting::begin(source)).transpose()?,
        replaced: match args.accept {
            true => replaced_decisions(&mut source.checked_reader()?, source.run)?,
            false => BTreeSet::new(),
        },
        different: prices.is_some().then(BTreeMap::new),
    };
    let mut checked = Vec::new();
    for (by, decision) in deciding {
        checked.push(making.decide(source, by, decision, settings)?);
    }
    let Making { accepted, different, .. } = making;
    let is_known = checked.iter().all(|of_name: &CheckedName| of_name.is_known);
    let is_nothing_new = is_known && accepted.as_ref().is_some_and(|new| !new.is_empty());
    let accepted = accepted.filter(|_| !is_known);
    let different = different.unwrap_or_default();
    let refolded = prices.map(|prices| refold(source, different, prices, global)).transpose()?;
    Ok(CheckedRun { checked, accepted, is_nothing_new, refolded })
}

/// What is made of the new decisions about a run.
struct Making {
    /// The run that they are accepted in, if they are.
    accepted: Option<AcceptedRun>,
    /// Recorded decisions that others have replaced.
    replaced: BTreeSet<Seq>,
    /// Those that differ from the recorded ones, if they are wanted.
    different: Option<BTreeMap<(CallPath, Sample), OtherDecision>>,
}

impl Making {
    /// Makes the decisions of one name.
    fn decide<'a>(
        &mut self,
        source: &RunSource,
        by: Again<'a>,
        decision: Option<&'a str>,
        settings: CheckSettings<'a>,
    ) -> Result<CheckedName, CliError> {
        let CheckSettings { params, args, global, .. } = settings;
        let (only, choices) = (args.call.as_ref(), args.choice);
        let name = decision.or(args.name.as_deref());
        let selection =
            Selection { by, params, only, choices, name, parsers: global.studies.parsers() };
        let mut reader = source.checked_reader()?;
        let (mut is_same, mut names) = (true, DecisionNames::default());
        let checked = check(&mut reader, source.run, selection, |reader, made| {
            let RevisedDecision { answer, recorded, by, .. } = made;
            let name = name.unwrap_or_else(|| revised_name(made));
            let from = answer.decision.as_ref().map(|(_, made)| made.by.decides());
            is_same &= recorded.as_ref() == Some(by) && from == Some(name);
            names.add(from, name);
            let was_replaced = |(seq, _): &(Seq, _)| self.replaced.contains(seq);
            is_same &= !answer.decision.as_ref().is_some_and(was_replaced);
            // A study decides about the first choice.
            let is_first = made.answer.choice.at == 0;
            if is_first
                && let Some(different) = &mut self.different
                && let Some(other) = made.other()
            {
                different.insert((made.answer.call.clone(), made.answer.sample), other);
            }
            match &mut self.accepted {
                Some(accepted) => accept_revised(accepted, reader, (source.run, name), made)
                    .map_err(CliError::from),
                None => Ok(()),
            }
        })?;
        let is_known = is_same && checked.changed.is_empty();
        Ok(CheckedName { decision: decision.map(str::to_owned), checked, names, is_known })
    }
}

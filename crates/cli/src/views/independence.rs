//! Prints the basis of a run's decisions: draws, shared answers, and the clusters over which they are independent.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::output::{Output, count_of};
use crate::select::{self, RunSelection};
use retold::audit::{Clusters, Independence, SharedAnswer, Sizes, independence};
use retold::escaping::printable;
use retold::id::RunId;
use retold::log::Reader;
use retold::members::Members;
use retold_study::studies::Studies;

/// How many shared answers are listed for people, and how many calls of each.
const SHOWN: usize = 20;
const CALLS_SHOWN: usize = 8;

/// The longest part of a decision's name that is shown.
const DECIDES_SHOWN: usize = 60;

/// The label over which the study of a run says that its draws are independent, if it names one.
pub(crate) fn declared_clusters(
    studies: &Studies,
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<Option<&'static str>, CliError> {
    let started = select::run_start(reader, run)?;
    Ok(studies.find(&started.experiment).and_then(|study| study.independent_by()))
}

/// Prints the basis of a run's decisions.
pub(crate) fn show(
    selected: &RunSelection,
    studies: &Studies,
    output: &Output,
) -> Result<Status, CliError> {
    let mut reader = selected.checked_reader()?;
    let simulated = select::run_start(&mut reader, selected.run)?.is_simulated();
    let label = declared_clusters(studies, &mut reader, selected.run)?;
    let found = independence(&mut reader, selected.run, studies.parsers(), label)?;
    if output.is_json() {
        let mut object = object(&found);
        object.set("run", json!(selected.run));
        object.set("simulated", simulated.into());
        output.object(&object)?;
    } else {
        let said = if simulated { select::SIMULATED } else { "" };
        let checked = select::checked_line(reader.checked_events(), selected.run);
        output.text(&format!("{said}{}{checked}", text(&found)))?;
    }
    Ok(Status::Fine)
}

fn object(found: &Independence) -> Value {
    let kind = |((kind, decides), sizes): (&(String, String), &Sizes)| {
        let Sizes { decisions, draws, draws_without_value, answers, answers_not_shared, clusters } =
            sizes;
        let of =
            clusters.as_ref().map(|Clusters { of, count, .. }| json!({"of": of, "count": count}));
        json!({"kind": kind, "decides": decides, "decisions": decisions, "draws": draws,
            "draws_without_value": draws_without_value,
            "answers": answers, "answers_not_shared": answers_not_shared, "clusters": of,
            "effective_sample_size": clusters.as_ref().map(|clusters| clusters.effective)})
    };
    let shared = |SharedAnswer { run, seq, decides, decisions }: &SharedAnswer| {
        let decisions = decisions.iter();
        let decisions = decisions
            .map(|(seq, call, sample)| json!({"seq": seq, "call": call, "sample": sample}));
        json!({"run": run, "seq": seq, "decides": decides, "decisions": decisions.collect::<Vec<_>>()})
    };
    json!({
        "kinds": found.kinds.iter().map(kind).collect::<Vec<_>>(),
        "shared": found.shared.iter().map(shared).collect::<Vec<_>>(),
    })
}

fn text(found: &Independence) -> String {
    let mut out: String = found.sentences().iter().map(|said| format!("{said}\n")).collect();
    for SharedAnswer { run, seq, decides, decisions } in found.shared.iter().take(SHOWN) {
        let calls = decisions.iter().take(CALLS_SHOWN);
        let calls: Vec<_> = calls.map(|(_, call, sample)| format!("{call}#{sample}")).collect();
        let more = if decisions.len() > CALLS_SHOWN { ", .." } else { "" };
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            out,
            "{} of {} on the answer at seq {seq} of run {}: {}{more}",
            count_of(decisions.len() as u64, "decision"),
            printable(decides, DECIDES_SHOWN),
            run.short(8),
            calls.join(", ")
        );
    }
    if found.shared.len() > SHOWN {
        let _ =
            writeln!(out, "and {} more shared answers: --json has all", found.shared.len() - SHOWN);
    }
    out
}

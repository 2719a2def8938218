//! Reads the decisions of a run, and which of them are draws.

use std::collections::{BTreeMap, BTreeSet};

use crate::decide::last_resort;
use crate::event::{DecisionMade, Event, call_kind, cluster_of, participant_of};
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::{LogError, Reader, RunEvents};
use crate::parse::Parsers;

/// The cluster of a draw: the name of its label, or `call`, and the value.
pub(super) type ClusterKey = (String, String);

/// The origin of a decision: the run that recorded the answer first, the event there, and the choice of the answer, each of
/// which was drawn by itself.
pub(super) type DrawOrigin = (RunId, Seq, u32);

/// A decision and its origin.
pub(super) struct Decided {
    pub(super) seq: Seq,
    /// The kind of its call.
    pub(super) kind: String,
    pub(super) call: CallPath,
    pub(super) sample: Sample,
    pub(super) origin: DrawOrigin,
    /// Its cluster, if it is known.
    pub(super) cluster: Option<ClusterKey>,
    /// Whether something was found in the answer.
    pub(super) has_value: bool,
    pub(super) is_draw: bool,
}

/// A decision as it was recorded.
struct Made {
    response: Seq,
    choice: u32,
    decides: String,
    has_value: bool,
}

/// A question, as far as it matters here.
struct Asked {
    call: CallPath,
    sample: Sample,
    kind: String,
    /// The cluster that a label gives.
    cluster: Option<ClusterKey>,
    /// The cluster if the prompt was made from nothing earlier: the participant or, where a study declares the sources of
    /// its prompts, the call.
    alone: Option<ClusterKey>,
}

/// The decisions of a run in its order, each after its name.
pub(super) fn read(
    reader: &mut dyn Reader,
    run: RunId,
    parsers: &Parsers,
    label: Option<&str>,
) -> Result<Vec<(String, Decided)>, LogError> {
    let mut asked: BTreeMap<Seq, Asked> = BTreeMap::new();
    let mut declares = false;
    // The kinds of call of which a prompt was made from something earlier.
    let mut dependent: BTreeSet<String> = BTreeSet::new();
    // The question and the origin of each answer.
    let mut answers: BTreeMap<Seq, (Seq, (RunId, Seq))> = BTreeMap::new();
    // The decisions or answers that facts rest on.
    let mut cited: BTreeSet<Seq> = BTreeSet::new();
    let mut made: Vec<(Seq, Made)> = Vec::new();
    let mut last_resorts: BTreeMap<(String, Option<u64>), Option<&'static str>> = BTreeMap::new();
    let mut events = RunEvents::new(run);
    while let Some(stored) = events.next(reader)? {
        match stored.event().map_err(LogError::from)? {
            Event::RunStarted(started) => declares = started.is_of_experiment(),
            Event::RequestSent(sent) => {
                let kind = call_kind(&sent.labels, &sent.call);
                if !sent.because.is_empty() {
                    dependent.insert(kind.clone());
                }
                let key = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
                let declared = match label {
                    Some(label) => sent.labels.get(label).map(|value| (label, value.as_str())),
                    None => cluster_of(&sent.labels),
                };
                let call = || declares.then_some(("call", sent.call.as_str()));
                let alone = participant_of(&sent.labels).or_else(call);
                let (cluster, alone) = (declared.map(key), alone.map(key));
                let (call, sample) = (sent.call, sent.sample);
                asked.insert(stored.seq, Asked { call, sample, kind, cluster, alone });
            }
            Event::ResponseReceived(received) => {
                answers.insert(stored.seq, (received.request, (run, stored.seq)));
            }
            Event::AnswerReused(reused) => {
                // An answer that was itself reused in this run has its own origin.
                let from = (reused.from_run, reused.from_seq);
                let known = answers.get(&reused.from_seq).filter(|_| reused.from_run == run);
                let origin = known.map_or(from, |(_, origin)| *origin);
                answers.insert(stored.seq, (reused.request, origin));
            }
            Event::DecisionMade(decision) => {
                let DecisionMade { response, by, details } = decision;
                let decides = by.decides().to_owned();
                let parser = (by.parser["name"].to_string(), by.parser["version"].as_u64());
                let of = last_resorts.entry(parser);
                let last = *of.or_insert_with(|| last_resort(&by.parser, parsers));
                let has_value = !details.value.is_null() && last != Some(by.method.as_str());
                let choice = details.choice.unwrap_or(0);
                made.push((stored.seq, Made { response, choice, decides, has_value }));
            }
            Event::Occurred(fact) => cited.extend(fact.causes),
            _ => {}
        }
    }
    let mut decisions: Vec<(String, Decided)> = Vec::new();
    // The decisions about each call, by call, name and choice: the place of the last about each sample.
    let mut calls: BTreeMap<(CallPath, String, u32), BTreeMap<Sample, usize>> = BTreeMap::new();
    let mut is_cited = Vec::new();
    for (seq, Made { response, choice, decides, has_value }) in made {
        let Some((question, origin)) = answers.get(&response) else { continue };
        let Some(Asked { call, sample, kind, cluster, alone }) = asked.get(question) else {
            continue;
        };
        let stands_alone = label.is_none() && !dependent.contains(kind);
        let decided = Decided {
            seq,
            kind: kind.clone(),
            call: call.clone(),
            sample: *sample,
            origin: (origin.0, origin.1, choice),
            cluster: cluster.clone().or_else(|| alone.clone().filter(|_| stands_alone)),
            has_value,
            is_draw: false,
        };
        let of_call = calls.entry((call.clone(), decides.clone(), choice)).or_default();
        of_call.insert(*sample, decisions.len());
        is_cited.push(cited.contains(&seq) || cited.contains(&response));
        decisions.push((decides, decided));
    }
    for samples in calls.into_values() {
        let cited: Vec<usize> = samples.values().copied().filter(|at| is_cited[*at]).collect();
        let draws = if cited.is_empty() {
            samples.into_values().next_back().into_iter().collect()
        } else {
            cited
        };
        draws.into_iter().for_each(|at| decisions[at].1.is_draw = true);
    }
    Ok(decisions)
}

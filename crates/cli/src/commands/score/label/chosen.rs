//! Which answers a person is asked about.

use std::collections::BTreeSet;

use retold::decide::each_answer;
use retold::decided::decisions_about;
use retold::event::{DecisionMade, Labels, PERSON};
use retold::id::{CallPath, RunId, Sample, Seq};
use retold::log::{LogError, Reader};

/// An answer to be labelled; its text is read when it is shown.
pub(super) struct LabelledAnswer {
    pub(super) seq: Seq,
    pub(super) call: CallPath,
    pub(super) sample: Sample,
    pub(super) labels: Labels,
}

/// The answers of a run, in the order of the log, but for those that a person has decided about under a name.
pub(super) fn unlabelled_answers(
    reader: &mut dyn Reader,
    run: RunId,
    person: Option<(&str, &str)>,
    call: Option<&CallPath>,
) -> Result<Vec<LabelledAnswer>, LogError> {
    let mut labelled = BTreeSet::new();
    if let Some((person, name)) = person {
        decisions_about(reader, run, |about| {
            if is_by(&about.joined.made, person, name) {
                labelled.insert(about.answer);
            }
        })?;
    }
    let mut answers = Vec::new();
    each_answer::<LogError>(reader, run, |_, answer| {
        let is_first = answer.choice.at == 0 && !labelled.contains(&answer.seq);
        if is_first && call.is_none_or(|call| answer.call.is_under(call)) {
            let (seq, call, sample, labels) =
                (answer.seq, answer.call, answer.sample, answer.labels);
            answers.push(LabelledAnswer { seq, call, sample, labels });
        }
        Ok(())
    })?;
    answers.sort_by_key(|answer| answer.seq);
    Ok(answers)
}

/// Whether a person made a decision under a name.
fn is_by(made: &DecisionMade, person: &str, name: &str) -> bool {
    let parser = &made.by.parser;
    parser["name"] == PERSON && parser["params"]["person"] == person && made.by.decides() == name
}

//! The end of a run: compared with the recorded one, or recorded.

use std::collections::BTreeMap;

use super::clock;
use super::core::Core;
use super::divergence::Divergence;
use super::experiment::AnyExperiment;
use super::output::{OutputError, OutputFile};
use super::output_digests::output_digests;
use super::record::RunRecord;
use super::stop::Stop;
use crate::event::{Event, RunFinished, RunOutcome};
use crate::id::{OutcomeDigest, OutputDigest};
use crate::log::{LogError, events_root};

/// The result of concluding a run.
#[derive(Debug, Default)]
pub(super) struct Conclusion {
    /// Whether the state was compared with a recorded one.
    pub(super) state_compared: bool,
    /// The output files, if they were made to record their digests.
    pub(super) outputs: Option<Vec<OutputFile>>,
}

/// Compares the end with the recorded one, or records it.
pub(super) async fn conclude(
    core: &Core,
    experiment: &dyn AnyExperiment,
    digest: OutcomeDigest,
) -> Result<Conclusion, Stop> {
    if let Some(history) = core.history.borrow_mut().as_mut() {
        if let Some(left) = history.next_outcome()? {
            return Err(Divergence::leftover(&left).into());
        }
        match history.run_end()? {
            Some(finished) if finished.outcome_digest != digest => {
                return Err(Divergence::digest(finished.outcome_digest, digest).into());
            }
            Some(finished) => {
                return match &finished.outcome {
                    RunOutcome::Finished => {
                        let state_compared = core.states.compare()?;
                        Ok(Conclusion { state_compared, outputs: None })
                    }
                    other => Err(Stop::Ended { outcome: other.clone() }),
                };
            }
            None => {}
        }
    }
    if !core.setup.mode.writes() {
        return Err(Stop::EndOfRecord);
    }
    record(core, experiment, digest).await
}

/// Records the end of the run, with all digests.
async fn record(
    core: &Core,
    experiment: &dyn AnyExperiment,
    digest: OutcomeDigest,
) -> Result<Conclusion, Stop> {
    let time = clock::now();
    let root = core.writer.borrow().as_ref().and_then(|writer| {
        // Everything that is read below must be stored first.
        writer.flush();
        writer.events_root()
    });
    let mut reader = core.setup.log.reader()?;
    let root = match root {
        Some(root) => root,
        None => events_root(reader.as_mut(), core.setup.run)?,
    };
    let mut finished = RunFinished::new(RunOutcome::Finished, digest, root);
    finished.state = core.states.digests();
    let mut record = RunRecord::read(reader.as_mut(), core.setup.run)?;
    record.will_end(finished.clone(), time);
    let mut outputs = None;
    if let Some((digests, files)) = make_outputs(experiment, &mut record)? {
        finished.outputs = Some(digests);
        outputs = Some(files).filter(|files| !files.is_empty());
    }
    core.submit_durable_at(&Event::RunFinished(finished), time)?.1.wait().await?;
    Ok(Conclusion { state_compared: false, outputs })
}

/// The output files, with their digests and that of the report. If they cannot be made, the paid
/// run is not lost: the error is reported when the outputs are requested.
fn make_outputs(
    experiment: &dyn AnyExperiment,
    record: &mut RunRecord<'_>,
) -> Result<Option<Made>, LogError> {
    let made = experiment.outputs_any(record).and_then(|files| {
        let report = experiment.fold(&record.facts)?;
        Ok((output_digests(&report, &files)?, files))
    });
    match made {
        Ok(made) => Ok(Some(made)),
        Err(OutputError::Log(error)) => Err(error),
        Err(_) => Ok(None),
    }
}

type Made = (BTreeMap<String, OutputDigest>, Vec<OutputFile>);

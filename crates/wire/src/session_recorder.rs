//! Writing a session's run.

use std::sync::Mutex;

use retold::log::Log;
use retold::run::{Recorder, RecorderError};

use crate::lock::lock;

/// Writes a session's run; in a replay, nothing.
pub(crate) struct SessionRecorder(Mutex<RecorderState>);

struct RecorderState {
    recorder: Option<Recorder>,
    /// Why nothing more can be recorded.
    failed: Option<RecorderError>,
}

impl SessionRecorder {
    pub(crate) fn new(recorder: Option<Recorder>) -> Self {
        SessionRecorder(Mutex::new(RecorderState { recorder, failed: None }))
    }

    /// Uses the recorder, if there is one. After an error, nothing more is recorded.
    ///
    /// # Errors
    /// [`RecorderError`] if it cannot be recorded.
    pub(crate) fn write<T>(
        &self,
        write: impl FnOnce(&mut Recorder) -> Result<T, RecorderError>,
    ) -> Result<Option<T>, RecorderError> {
        let RecorderState { recorder, failed } = &mut *lock(&self.0);
        let Some(recorder) = recorder else { return Ok(None) };
        write(recorder).map(Some).inspect_err(|error| {
            failed.get_or_insert_with(|| error.clone());
        })
    }

    /// Notes that recording failed.
    pub(crate) fn fail(&self, error: &RecorderError) {
        lock(&self.0).failed.get_or_insert_with(|| error.clone());
    }

    /// Why nothing more can be recorded.
    pub(crate) fn failure(&self) -> Option<RecorderError> {
        lock(&self.0).failed.clone()
    }

    /// Ends the run. `finished` says whether it is complete; otherwise it can be resumed.
    ///
    /// # Errors
    /// [`RecorderError`] if something could not be recorded.
    pub(crate) async fn end(&self, finished: bool, log: &Log) -> Result<(), RecorderError> {
        let (recorder, failed) = {
            let mut state = lock(&self.0);
            (state.recorder.take(), state.failed.clone())
        };
        if let Some(error) = failed {
            return Err(error);
        }
        match recorder {
            Some(recorder) if finished => recorder.finish(log).await.map(drop),
            Some(recorder) => {
                recorder.flush();
                Ok(())
            }
            None => Ok(()),
        }
    }
}

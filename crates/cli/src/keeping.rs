//! Keeps what `verify` finds in long runs, so that a command that shows a part of one knows it at once.

use std::path::Path;

use crate::again::spell_commands;
use crate::error::write_err;
use retold::id::RunId;
use retold_archive::user_cache;
use retold_archive::{Verdict, Verifying};

/// The verdicts to keep about a log.
pub(crate) enum Keeping {
    /// Nothing: it is small, or it is not a log.
    Nothing,
    /// The verdicts, if the log does not change meanwhile.
    Begun(Verifying),
    /// Verdicts cannot be kept, for this reason.
    Failed(String),
}

impl Keeping {
    /// To be called before the log is opened.
    pub(crate) fn begin(log: &Path) -> Self {
        let Some(cache) = user_cache() else {
            return Keeping::Failed("neither XDG_CACHE_HOME nor HOME is set".to_owned());
        };
        match Verifying::soon(&cache, log) {
            Ok(Some(begun)) => Keeping::Begun(begun),
            Ok(None) => Keeping::Nothing,
            // Nothing is found in a log that cannot be read.
            Err(error) => Keeping::Failed(error.to_string()),
        }
    }

    /// Keeps the verdicts. If that fails, this says why: commands that need a verdict have to verify the run themselves.
    pub(crate) fn keep(self, found: Vec<(RunId, Verdict)>) {
        let failed = match self {
            _ if found.is_empty() => None,
            Keeping::Nothing => None,
            Keeping::Begun(verifying) => verifying.keep(found).err().map(|error| error.to_string()),
            Keeping::Failed(why) => Some(why),
        };
        if let Some(why) = failed {
            write_err(&spell_commands(&format!(
                "warning: what was found is not kept: {why}\n  hint: until it is, `retold show` verifies a long run each time\n"
            )));
        }
    }
}

//! Seals that were made before, to be copied into a deposit.

use std::path::Path;

use crate::error::CliError;
use retold::id::RunId;
use retold::jsonl::read_whole;
use retold_deposit::Manifest;

/// The longest seal, in bytes.
const LONGEST: u64 = 64 << 10;

/// A seal of a run of the deposit.
pub(super) struct CopiedSeal {
    /// Its name in the deposit.
    pub(super) name: String,
    pub(super) text: String,
}

impl CopiedSeal {
    /// Reads a seal, which has to be of one of the runs. Its signature is not checked: readers do that, with the public key.
    pub(super) fn read(file: &Path, manifest: &Manifest) -> Result<Self, CliError> {
        let text = String::from_utf8_lossy(&read_whole(file, LONGEST)?).into_owned();
        let refused = |what: &str| {
            CliError::usage(format!("{}: {what}", file.display()))
                .hint("`retold verify seal RUN --key KEY -o FILE` seals a run")
        };
        let field =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let run: Option<RunId> = field("run").and_then(|run| run.parse().ok());
        let run = run
            .filter(|_| text.starts_with("retold seal "))
            .ok_or_else(|| refused("it is not a seal"))?;
        let of = manifest.runs.iter().find(|of| of.run == run);
        let of =
            of.ok_or_else(|| refused(&format!("it is of run {run}, which is not in the deposit")))?;
        let head = field("head").map(str::to_owned);
        if !manifest.texts {
            return Err(refused(
                "it has the head of the run, which could be tested with guesses at a text",
            ));
        }
        match of.head.map(|head| head.to_string()) == head {
            true => Ok(CopiedSeal { name: format!("seals/{run}.seal"), text }),
            false => Err(refused("it is of an earlier state of the run: seal it again")),
        }
    }
}

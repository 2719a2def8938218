//! The file of a seal: a statement, its signature, and a time from outside if it has one.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::ssh_seal::Seal;
use super::time_stamp::{self, TimeStamp};
use crate::error::{CliError, Status};
use retold::id::Time;
use retold::jsonl::read_whole;

/// The longest file, in bytes.
const LONGEST: u64 = 128 << 10;

/// Who has to have made a seal, and what vouches for its time.
#[derive(Debug, clap::Args)]
pub(super) struct SealArgs {
    /// A seal that `retold verify seal` wrote: the run must be the one that was sealed.
    #[arg(long, value_name = "FILE")]
    pub(super) seal: Option<PathBuf>,
    /// The public key of the seal's signer.
    #[arg(long, value_name = "FILE", requires = "seal")]
    pub(super) signer: Option<PathBuf>,
    /// The certificates, in PEM, that vouch for the authority from which the seal has its time.
    #[arg(long, value_name = "FILE", requires = "seal")]
    pub(super) authority: Option<PathBuf>,
}

/// A seal of which everything that could be checked without its run holds.
#[derive(Debug)]
pub(super) struct CheckedSeal {
    pub(super) seal: Seal,
    /// How its key is shown.
    pub(super) key: String,
    /// Whether the key had to be that of a signer.
    pub(super) has_signer: bool,
    /// When it existed at the latest, by an authority.
    pub(super) time: SealTime,
}

/// The time of a seal, as far as it is known from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SealTime {
    /// The seal has none.
    None,
    /// It has one, and nothing was given by which it could be checked.
    Unchecked,
    /// When it existed at the latest.
    Known(Time),
}

impl SealArgs {
    /// Reads the seal that is named and checks its signature and its time.
    pub(super) fn read(&self) -> Result<Option<CheckedSeal>, CliError> {
        let Some(file) = &self.seal else { return Ok(None) };
        let text = String::from_utf8_lossy(&read_whole(file, LONGEST)?).into_owned();
        let refused =
            |what: &str| CliError::new(Status::Difference, format!("{}: {what}", file.display()));
        let (signed, stamp) = match text.find(time_stamp::BEGIN) {
            None => (text.as_str(), None),
            Some(begin) => {
                let (signed, lines) = text.split_at(begin);
                let stamp = TimeStamp::parse(lines);
                (signed, Some(stamp.ok_or_else(|| refused("its time stamp cannot be read"))?))
            }
        };
        let (seal, key) = Seal::read_signed(signed, self.signer.as_deref(), &refused)?;
        let time = match (stamp, &self.authority) {
            (None, None) => SealTime::None,
            (Some(_), None) => SealTime::Unchecked,
            (None, Some(_)) => return Err(refused("it has no time from outside")),
            (Some(stamp), Some(certificates)) => SealTime::Known(
                stamp
                    .check(certificates, signed)?
                    .map_err(|why| refused(&format!("its time does not hold: {why}")))?,
            ),
        };
        Ok(Some(CheckedSeal { seal, key, has_signer: self.signer.is_some(), time }))
    }
}

impl CheckedSeal {
    /// Who signed, and when at the latest, as lines.
    pub(super) fn text(&self) -> String {
        let CheckedSeal { seal, key, has_signer, time } = self;
        let by = match has_signer {
            true => format!("sealed up to seq {} with {key}, as you wanted\n", seal.events),
            false => format!(
                "sealed up to seq {} with {key}: compare the key with that of the signer, or pass it as --signer\n",
                seal.events
            ),
        };
        let when = match time {
            SealTime::None => String::new(),
            SealTime::Unchecked => {
                "the seal has a time from outside, which was not checked: pass --authority\n"
                    .to_owned()
            }
            SealTime::Known(time) => {
                format!("the seal existed by {time}: the authority signed that\n")
            }
        };
        by + &when
    }

    /// The same as fields.
    pub(super) fn json(&self) -> Value {
        let CheckedSeal { seal, key, has_signer, time } = self;
        let known = match time {
            SealTime::Known(time) => Some(time.to_string()),
            SealTime::None | SealTime::Unchecked => None,
        };
        json!({"events": seal.events, "head": seal.head, "root": seal.root, "key": key,
            "signer_was_given": has_signer, "existed_by": known})
    }
}

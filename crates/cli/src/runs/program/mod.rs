//! Runs a program with its requests to models recorded, or answered from a recorded run.

mod args;
mod authorities;
mod chance;
mod child;
mod commands;
mod descendants;
mod destinations;
mod environment;
mod keys;
mod layers;
mod longest_body;
mod next;
mod parent;
mod passing;
mod progress_line;
mod proxy;
mod proxy_runs;
mod python_folder;
mod recorded;
mod running;
mod said;

pub(crate) use args::{
    InterceptArgs, MatchingArgs, PaceArg, Playing, PlayingArgs, ProcessArgs, ProgramCommand,
    RulesArgs,
};
pub(crate) use chance::ChanceArg;
pub(crate) use child::found_in_path;
pub(crate) use commands::{
    ProgramFork, ProgramRecording, ProgramResumption, fork, record, replay, resume,
};
pub(crate) use destinations::Destinations;
pub(crate) use keys::without_keys;
pub(crate) use layers::{LayerArgs, Layers};
pub(crate) use next::{command as next_command, import as import_command, needs_command};
pub(crate) use proxy::{Proxying, proxy};
pub(crate) use proxy_runs::ProxyMode;
pub(crate) use running::CLOSING;

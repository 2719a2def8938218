//! Which model answers: decided by the config, the flags and the environment.

mod addresses;
mod args;
mod batch_args;
mod keys_fit;
mod listed;
mod make;
mod named_again;
mod names;
mod servers;
mod unnamed;

pub(crate) use args::ModelArgs;
pub(crate) use batch_args::{BatchArgs, BatchWait, seconds};
pub(crate) use names::kinds;

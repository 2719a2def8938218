//! Which model answers: decided by the config, the flags and the environment.

mod addresses;
mod args;
mod keys_fit;
mod make;
mod named_again;
mod servers;
mod unnamed;

pub(crate) use args::ModelArgs;

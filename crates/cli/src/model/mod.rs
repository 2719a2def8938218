//! Which model answers: decided by the config, the flags and the environment.

mod addresses;
mod args;
mod make;
mod servers;
mod unnamed;

pub(crate) use addresses::named_again;
pub(crate) use args::ModelArgs;

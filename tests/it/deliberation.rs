//! The deliberation experiment.

mod asked;
mod config;
mod facts;
mod grouping;
mod imports;
mod missing;
mod opposition;
mod originals;
mod outputs;
mod personas;
mod pilot;
mod pool;
mod pool_killed;
mod reenact;
mod runs;
mod trouble;

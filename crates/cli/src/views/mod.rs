//! What more than one command prints.

pub(crate) mod alike;
pub(crate) mod audit;
pub(crate) mod changed;
pub(crate) mod columns;
pub(crate) mod departures;
pub(crate) mod derived;
pub(crate) mod differing;
pub(crate) mod event;
pub(crate) mod expected;
pub(crate) mod facts;
pub(crate) mod forecast;
pub(crate) mod independence;
pub(crate) mod labelled;
pub(crate) mod last_writer;
pub(crate) mod left;
pub(crate) mod origin;
pub(crate) mod pace;
pub(crate) mod program;
pub(crate) mod run_figures;
pub(crate) mod state;
pub(crate) mod stats;
pub(crate) mod traffic;

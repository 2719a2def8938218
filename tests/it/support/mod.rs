//! What several tests need.

pub(crate) mod cases;
pub(crate) mod csv;
pub(crate) mod data;

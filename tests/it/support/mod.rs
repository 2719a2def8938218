//! What several tests need.

pub(crate) mod cases;
pub(crate) mod data;

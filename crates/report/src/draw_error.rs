//! Why a plot cannot be drawn.

/// The error of a plot that cannot be drawn.
pub(crate) type DrawError = Box<dyn std::error::Error + Send + Sync>;

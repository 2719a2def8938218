//! Rejected actions by what rejected them, beside the idle turns that the source document would count.
//!
//! The document's parser turns every answer that it cannot use into an idle turn ("Parsing Logic"), while the
//! world rejects actions that are not possible ("Invalid Action Handling"). Both counts are in the tables, so that a
//! run can be read either way.

use super::world::{Invalid, World};

/// The columns of [`rejections`].
pub(super) const REJECTION_COLUMNS: [&str; 3] =
    ["rejected_by_parser", "rejected_by_world", "idle_in_document"];

/// Of the turns that `is` selects: those that the parser rejected, those that the world rejected, and
/// the idle ones (`idle`) together with those that the parser rejected.
pub(super) fn rejections(world: &World, idle: u32, is: impl Fn(&Invalid) -> bool) -> [String; 3] {
    let by =
        |who: &str| world.invalid.iter().filter(|row| row.rejected_by == who && is(row)).count();
    let parser = by("parser");
    let idle = usize::try_from(idle).unwrap_or(usize::MAX).saturating_add(parser);
    [parser, by("world"), idle].map(|count| count.to_string())
}

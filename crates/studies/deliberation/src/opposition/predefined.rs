//! The option that the config defines as the opposite of the participant's own.

use super::{Method, OpposingView, PREDEFINED, Position, Scene};

/// See the module.
pub(super) struct PredefinedOpposition;

impl Method for PredefinedOpposition {
    fn name(&self) -> &'static str {
        PREDEFINED
    }

    fn choose(&self, who: &Position, scene: &Scene) -> Option<OpposingView> {
        let opposite = scene.mapping.get(&who.choice).filter(|option| **option != who.choice)?;
        Some(OpposingView::Option(opposite.clone()))
    }
}

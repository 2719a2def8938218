//! Rows of the tables that a study makes of its facts.

use serde_json::{Map, Value};

/// A row of a table that a study makes of its facts, such as a player's turn with the model that played.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureRow {
    /// The table with the fields of the row, as a fact of one kind.
    pub(crate) fact: Value,
    /// How many draws it stands for.
    pub(crate) draws: u32,
}

impl FigureRow {
    /// A row of a table. Fields that are null have no value.
    pub fn new<const N: usize>(table: &str, fields: [(&str, Value); N]) -> Self {
        let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
        let row: Map<String, Value> = fields.collect();
        let fact = Map::from_iter([(table.to_owned(), Value::Object(row))]);
        FigureRow { fact: Value::Object(fact), draws: 1 }
    }

    /// The same row as so many draws that are alike.
    #[must_use]
    pub fn times(self, draws: u32) -> Self {
        FigureRow { draws, ..self }
    }
}

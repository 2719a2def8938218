//! Amounts: exact numbers with up to three decimals.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use retold_study::config::figure;

/// Thousandths in one.
const UNIT: u64 = 1000;

/// The largest amount, as a number.
const MOST: f64 = 1e9;

/// An amount of a resource, or a share: from 0 to a thousand million, in steps of a thousandth. In
/// JSON it is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Amount(u64);

impl JsonSchema for Amount {
    fn schema_name() -> Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "minimum": 0, "maximum": MOST})
    }
}

impl Amount {
    /// Nothing.
    pub const ZERO: Amount = Amount(0);
    /// One.
    pub const ONE: Amount = Amount(UNIT);

    /// A whole number.
    pub fn whole(number: u32) -> Amount {
        Amount(u64::from(number) * UNIT)
    }

    /// The amount equal to a number, if it has at most three decimals and is in range.
    pub fn exact(number: f64) -> Option<Amount> {
        let steps = number * UNIT as f64;
        // A double near 1e12 is within 1e-4 of what was written.
        let near = (steps - steps.round()).abs() < 1e-3;
        if !(0.0..=MOST).contains(&number) || !near {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "whole and at most 1e12")]
        #[expect(clippy::cast_sign_loss, reason = "at least 0")]
        let steps = steps.round() as u64;
        Some(Amount(steps))
    }

    /// As a number, for figures and tables.
    pub fn number(self) -> f64 {
        self.0 as f64 / UNIT as f64
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Amount) -> Amount {
        Amount(self.0.saturating_add(other.0))
    }

    /// The difference, if it is not negative.
    pub fn minus(self, other: Amount) -> Option<Amount> {
        self.0.checked_sub(other.0).map(Amount)
    }

    /// The product, rounded down to a thousandth.
    #[must_use]
    pub fn times(self, other: Amount) -> Amount {
        let product = u128::from(self.0) * u128::from(other.0) / u128::from(UNIT);
        Amount(u64::try_from(product).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Amount {
    /// `2`, `2.5`, `0.125`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / UNIT, self.0 % UNIT);
        if part == 0 {
            return write!(f, "{whole}");
        }
        let part = format!("{part:03}");
        write!(f, "{whole}.{}", part.trim_end_matches('0'))
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(UNIT) {
            serializer.serialize_u64(self.0 / UNIT)
        } else {
            serializer.serialize_f64(self.number())
        }
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(deserializer)?;
        Amount::exact(number).ok_or_else(|| {
            D::Error::custom(format!(
                "{} is not an amount: from 0 to 1000000000, with at most three decimals",
                figure(number)
            ))
        })
    }
}

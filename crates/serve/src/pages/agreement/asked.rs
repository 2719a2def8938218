//! The comparison that a query asks for, and the choices that there are.

use std::collections::{BTreeMap, BTreeSet};

use retold::escaping::printable;
use retold::log::{NAME_AND_VALUE, name_and_value};
use retold_figures::agreement::{MeasurementLevel, RatedAnswers};
use retold_figures::natural_order;
use serde::Serialize;

use crate::agreement::AgreementOf;
use crate::error::PageError;
use crate::query::Query;

/// The most values of a label that are offered.
const MOST_VALUES: usize = 60;

/// A name of decisions, and how many raters decided under it.
#[derive(Serialize)]
pub(super) struct NameChoice {
    name: String,
    raters: usize,
    chosen: bool,
}

/// A label, and its values.
#[derive(Serialize)]
pub(super) struct LabelChoices {
    name: String,
    values: Vec<LabelValue>,
}

#[derive(Serialize)]
struct LabelValue {
    /// As the query has it.
    value: String,
    text: String,
    chosen: bool,
}

#[derive(Serialize)]
pub(super) struct LevelChoice {
    name: &'static str,
    chosen: bool,
}

/// The comparison that a query asks for.
pub(super) struct AskedAgreement {
    pub(super) of: AgreementOf,
    pub(super) names: Vec<NameChoice>,
    pub(super) labels: Vec<LabelChoices>,
    pub(super) levels: Vec<LevelChoice>,
}

impl AskedAgreement {
    /// Without names, it is the first that several decided under.
    pub(super) fn new(query: &Query, rated: &RatedAnswers) -> Result<Self, PageError> {
        let all = rated.names();
        let mut names = query.all("name");
        if names.is_empty() {
            let several = all.iter().find(|(_, raters)| **raters > 1);
            names.extend(several.map(|(name, _)| (*name).to_owned()));
        }
        let labels = query.all("label").into_iter().map(|label| {
            let wrong = || {
                PageError::BadRequest(format!("label={}: {NAME_AND_VALUE}", printable(&label, 60)))
            };
            name_and_value(label.trim()).ok_or_else(wrong)
        });
        let labels = labels.collect::<Result<Vec<_>, _>>()?;
        let level = level(query)?;
        let choices = all.into_iter().map(|(name, raters)| NameChoice {
            name: name.to_owned(),
            raters,
            chosen: names.iter().any(|chosen| chosen == name),
        });
        let levels = MeasurementLevel::ALL
            .map(|other| LevelChoice { name: other.name(), chosen: other == level });
        Ok(AskedAgreement {
            names: choices.collect(),
            labels: label_choices(rated, &labels),
            levels: levels.into(),
            of: AgreementOf { names, labels, level },
        })
    }
}

fn level(query: &Query) -> Result<MeasurementLevel, PageError> {
    let Some(named) = query.text("level")? else { return Ok(MeasurementLevel::Nominal) };
    let found = MeasurementLevel::ALL.into_iter().find(|level| level.name() == named);
    let wrong = || {
        PageError::BadRequest(format!(
            "level={} is not a level: there is {}",
            printable(&named, 60),
            MeasurementLevel::ALL.map(MeasurementLevel::name).join(", ")
        ))
    };
    found.ok_or_else(wrong)
}

/// The labels with few values, and those that are chosen.
fn label_choices(rated: &RatedAnswers, chosen: &[(String, String)]) -> Vec<LabelChoices> {
    let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in rated.labels() {
        let values = all.entry(name).or_default();
        let is_chosen = chosen.iter().any(|(n, v)| (n.as_str(), v.as_str()) == (name, value));
        if values.len() <= MOST_VALUES || is_chosen {
            values.insert(value);
        }
    }
    let is_offered = |name: &str, values: &BTreeSet<&str>| {
        let few = (2..=MOST_VALUES).contains(&values.len());
        few || chosen.iter().any(|(chosen, _)| chosen == name)
    };
    let offered = all.into_iter().filter(|(name, values)| is_offered(name, values));
    let shown = offered.map(|(name, values)| {
        let mut values: Vec<&str> = values.into_iter().collect();
        values.sort_by(|one, other| natural_order(one, other));
        let values = values.into_iter().map(|text| LabelValue {
            value: format!("{name}={text}"),
            text: text.to_owned(),
            chosen: chosen.iter().any(|(n, v)| (n.as_str(), v.as_str()) == (name, text)),
        });
        LabelChoices { name: name.to_owned(), values: values.collect() }
    });
    shown.collect()
}

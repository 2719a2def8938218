//! Values that are apart from their place, where a text such as `{{id}}` stands for them.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::FileProblem;
use crate::node::{LocatedValue, Value};

/// The longest name of a field that a placeholder is called after.
const LONGEST: usize = 30;

/// The most memory that the values of all placeholders of a file take, about.
const MOST_PUT_BACK: usize = 256 << 20;

/// The memory that a value takes besides its text, about.
const PER_VALUE: usize = 64;

/// Values by the names of their placeholders, in the order in which they were taken.
#[derive(Debug, Default)]
pub(crate) struct NamedValues {
    values: Vec<(String, LocatedValue)>,
    /// Names by the field and the value as JSON; the field of texts is empty.
    names: BTreeMap<(String, String), String>,
    taken: BTreeSet<String>,
    /// The last number of each field.
    counts: BTreeMap<String, usize>,
}

impl NamedValues {
    /// Values whose first one has this name, which no placeholder gets.
    pub(crate) fn beginning_with(name: &str, text: &str) -> Self {
        let value = LocatedValue::new(Value::Text(text.to_owned()));
        NamedValues {
            values: vec![(name.to_owned(), value)],
            taken: BTreeSet::from([name.to_owned()]),
            ..NamedValues::default()
        }
    }

    /// Takes a value, and returns what stands in its place. `number` is what follows a field's name for the nth of its values.
    /// Equal texts have one placeholder, whatever fields they are in.
    pub(crate) fn take(
        &mut self,
        field: &str,
        value: &LocatedValue,
        number: impl Fn(usize) -> String,
    ) -> LocatedValue {
        let of = if value.text().is_some() { "" } else { field };
        let key = (of.to_owned(), value.text_of_json().unwrap_or_default());
        if let Some(name) = self.names.get(&key) {
            return placeholder(name);
        }
        let name = self.add(field, value, number);
        let stands = placeholder(&name);
        self.names.insert(key, name);
        stands
    }

    /// Takes a value with a placeholder of its own, whatever else is equal to it by chance.
    pub(crate) fn take_apart(
        &mut self,
        field: &str,
        value: &LocatedValue,
        number: impl Fn(usize) -> String,
    ) -> LocatedValue {
        placeholder(&self.add(field, value, number))
    }

    /// Adds a value, and returns its name.
    fn add(
        &mut self,
        field: &str,
        value: &LocatedValue,
        number: impl Fn(usize) -> String,
    ) -> String {
        let letters = field.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_');
        let plain: String = letters.take(LONGEST).collect();
        let base = if plain.is_empty() { "value" } else { &plain };
        let mut n = self.counts.get(base).map_or(1, |last| last + 1);
        let name = loop {
            let name = format!("{base}{}", number(n));
            if self.taken.insert(name.clone()) {
                break name;
            }
            n += 1;
        };
        self.counts.insert(base.to_owned(), n);
        self.values.push((name.clone(), value.clone()));
        name
    }

    /// The values that were taken.
    pub(crate) fn values(&self) -> &[(String, LocatedValue)] {
        &self.values
    }
}

fn placeholder(name: &str) -> LocatedValue {
    LocatedValue::new(Value::Text(format!("{{{{{name}}}}}")))
}

/// The name in a text that is a placeholder.
pub(crate) fn name_in(text: &str) -> Option<&str> {
    let name = text.strip_prefix("{{")?.strip_suffix("}}")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// The values for which placeholders stand in an exchange.
pub(crate) struct Definitions<'a> {
    values: BTreeMap<&'a str, &'a LocatedValue>,
    /// About how much memory they have taken up to now, in the whole file.
    put_back: &'a mut usize,
}

impl<'a> Definitions<'a> {
    /// Those of an exchange, and those of its file.
    pub(crate) fn new(
        varying: &'a [(String, LocatedValue)],
        repeated: &'a [(String, LocatedValue)],
        put_back: &'a mut usize,
    ) -> Self {
        let values = repeated.iter().chain(varying).map(|(name, value)| (name.as_str(), value));
        Definitions { values: values.collect(), put_back }
    }

    /// A value with all of its placeholders replaced.
    ///
    /// # Errors
    /// A placeholder that stands for nothing, or too much that is put back.
    pub(crate) fn put_back(&mut self, value: &LocatedValue) -> Result<LocatedValue, FileProblem> {
        let whole = match &value.value {
            Value::Text(text) => match name_in(text) {
                Some(name) => return self.find(name, text),
                None => return Ok(value.clone()),
            },
            Value::List(items) => {
                Value::List(items.iter().map(|item| self.put_back(item)).collect::<Result<_, _>>()?)
            }
            Value::Map(fields) => {
                let field = |(name, field): &(String, LocatedValue)| {
                    Ok::<_, FileProblem>((name.clone(), self.put_back(field)?))
                };
                Value::Map(fields.iter().map(field).collect::<Result<_, _>>()?)
            }
            _ => return Ok(value.clone()),
        };
        Ok(LocatedValue { line: value.line, value: whole })
    }

    fn find(&mut self, name: &str, text: &str) -> Result<LocatedValue, FileProblem> {
        let Some(value) = self.values.get(name) else {
            return Err(FileProblem::Said(format!(
                "{text:?} stands for a value, and neither \"varying\" of this exchange nor \"repeated\" of the file has one of this name"
            )));
        };
        *self.put_back = self.put_back.saturating_add(weight(value));
        if *self.put_back > MOST_PUT_BACK {
            return Err(FileProblem::Said(format!(
                "its placeholders stand for more than {} MiB",
                MOST_PUT_BACK >> 20
            )));
        }
        Ok((*value).clone())
    }
}

/// The memory that a value takes, about.
fn weight(value: &LocatedValue) -> usize {
    let inner = match &value.value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.iter().map(weight).sum(),
        Value::Map(fields) => fields.iter().map(|(name, field)| name.len() + weight(field)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    inner + PER_VALUE
}

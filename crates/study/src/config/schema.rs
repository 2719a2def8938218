//! JSON Schemas of files: which keys they may have, what these mean, and what is assumed if one is left out.
//!
//! They follow from the same types that read the files, so that an editor refuses what a command would refuse. What only a
//! whole config shows, such as the range of a number, is checked by the commands alone.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::kinds::{ApiKind, ModelKind};
use super::named::{AnswersFile, BaseUrl, KeyVariable};

/// The schema of a file with these contents, in JSON Schema 2020-12.
pub fn schema_of<T: JsonSchema>(title: &str) -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema.to_value()
}

/// A seed without the default of the type: a run of a config that names none draws one.
pub fn drawn_if_left_out(schema: &mut Schema) {
    schema.remove("default");
}

/// The schema of names, one of which is given.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> Schema {
    json_schema!({"type": "string", "enum": all.collect::<Vec<_>>()})
}

impl JsonSchema for ModelKind {
    fn schema_name() -> Cow<'static, str> {
        "ModelKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        names(ModelKind::all().iter().map(|kind| kind.as_str()))
    }
}

impl JsonSchema for ApiKind {
    fn schema_name() -> Cow<'static, str> {
        "ApiKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        names(ModelKind::all().iter().filter_map(|kind| Some(kind.api()?.as_str())))
    }
}

/// Settings that are a text in a file.
macro_rules! texts {
    ($($setting:ident),*) => {$(
        impl JsonSchema for $setting {
            fn schema_name() -> Cow<'static, str> {
                stringify!($setting).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                String::json_schema(generator)
            }
        }
    )*};
}

texts!(AnswersFile, BaseUrl, KeyVariable);

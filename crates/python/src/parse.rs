//! The parsers of the five studies, for texts that are in no log.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use retold::parse::{AnyParser, ParsedAnswer, ParserSpec};
use serde_json::{Value, json};

use crate::{convert, value_error};

/// Parses texts; each result has the value, its method, the reasoning, warnings and a verdict. `params` is JSON. Other
/// threads of Python go on meanwhile.
#[pyfunction]
pub(crate) fn parse<'py>(
    py: Python<'py>,
    parser: &str,
    texts: Vec<PyBackedStr>,
    params: &str,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let parser = parser_of(parser, params)?;
    let parsed: Vec<Value> =
        py.detach(|| texts.iter().map(|text| decide(&*parser, text)).collect());
    parsed.iter().map(|one| convert::value(py, one)).collect()
}

fn decide(parser: &dyn AnyParser, text: &str) -> Value {
    let (ParsedAnswer { method, value, reasoning, warnings }, verdict) = parser.parse_any(text);
    json!([value, method, reasoning, warnings, verdict])
}

fn parser_of(name: &str, params: &str) -> PyResult<Box<dyn AnyParser>> {
    let parsers = retold_studies::parsers().map_err(value_error)?;
    let (family, version) = parsers.resolve(name).map_err(value_error)?;
    let params: Value = serde_json::from_str(params).map_err(value_error)?;
    let params = if params.as_object().is_some_and(serde_json::Map::is_empty) {
        Value::Null
    } else {
        params
    };
    family.parser(&ParserSpec { name: family.name.into(), version, params }).map_err(value_error)
}

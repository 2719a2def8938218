//! From JSON to Python's own values.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Map, Value};

/// A value of Python.
pub(crate) fn value<'py>(py: Python<'py>, json: &Value) -> PyResult<Bound<'py, PyAny>> {
    match json {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(truth) => truth.into_bound_py_any(py),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(natural), ..) => natural.into_bound_py_any(py),
            (_, Some(integer), _) => integer.into_bound_py_any(py),
            (.., real) => real.into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let items: Vec<_> =
                items.iter().map(|item| value(py, item)).collect::<PyResult<_>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        Value::Object(fields) => Ok(object(py, fields)?.into_any()),
    }
}

/// A dictionary with the fields of an object, in their order.
pub(crate) fn object<'py>(
    py: Python<'py>,
    fields: &Map<String, Value>,
) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(py);
    for (name, field) in fields {
        dictionary.set_item(name, value(py, field)?)?;
    }
    Ok(dictionary)
}

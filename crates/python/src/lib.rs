//! The parts of retold that the Python package runs in its own process, without threads and without a runtime, because
//! neither survives a fork: parsers, and reading a log as tables. Recording and replaying is done by the program `retold`.

mod convert;
mod parse;
mod tables;

use pyo3::prelude::*;

/// The Python module `retold._retold`.
#[pymodule]
mod _retold {
    #[pymodule_export]
    use super::is_a_key;
    #[pymodule_export]
    use super::parse::parse;
    #[pymodule_export]
    use super::tables::{rows, run_ids, stream};
}

/// Whether a header or a parameter holds a key, by its name.
#[pyfunction]
fn is_a_key(name: &str) -> bool {
    retold::model::is_a_key(name)
}

/// An error that Python raises as `ValueError`: the input cannot be used.
fn value_error(error: impl std::fmt::Display) -> PyErr {
    pyo3::exceptions::PyValueError::new_err(error.to_string())
}

//! Rows of decisions and of facts.

use retold::decided::{DecisionAbout, JoinedDecision};
use retold::event::{DecidedBy, DecisionDetails, DecisionMade, FactOccurred, RunStarted};
use retold::id::{RunId, Seq, Time};
use serde_json::Value;

use crate::column::Cell;
use crate::labels::LabelColumns;

/// The row of a decision. `is_refused` if its answer was refused.
pub(crate) fn decision_cells<'a>(
    (run, id): (RunId, &'a str),
    labels: &'a LabelColumns,
    about: &'a DecisionAbout,
    is_refused: bool,
) -> Vec<Cell<'a>> {
    let DecisionAbout { run: of, answer, joined } = about;
    let JoinedDecision { seq, time, question, made, in_force, accepted_as: _ } = joined;
    let DecisionMade { response: _, by, details } = made;
    let DecidedBy { name: _, method, parser } = by;
    let DecisionDetails { choice, reasoning, value, warnings } = details;
    let [json, number, text] = value_cells(value);
    let mut cells = vec![by.decides().into(), json];
    cells.extend(labels.cells(question));
    cells.extend([
        question.call.as_str().into(),
        Cell::count(u64::from(question.sample)),
        Cell::count(choice.map(u64::from)),
        number,
        text,
        (&**method).into(),
        Cell::maybe(reasoning.as_deref()),
        if warnings.is_empty() {
            Cell::Missing
        } else {
            Value::from(&**warnings).to_string().into()
        },
        Cell::maybe(parser["name"].as_str()),
        version(&parser["version"]),
        Cell::count(answer.0),
        Cell::Truth(is_refused),
        Cell::Truth(*in_force),
        if *of == run { Cell::Missing } else { of.to_string().into() },
    ]);
    cells.extend(place_cells(id, (*seq, *time)));
    cells
}

/// The row of a fact. A program names its facts; a study's facts have their name in the field `fact`.
pub(crate) fn fact_cells<'a>(
    run: &'a str,
    at: (Seq, Time),
    started: &RunStarted,
    occurred: &'a FactOccurred,
) -> Vec<Cell<'a>> {
    let fact = &occurred.fact;
    let is_of_program = !started.is_of_experiment();
    let (name, value) = match is_of_program {
        true => (fact["name"].as_str(), &fact["value"]),
        false => (fact["fact"].as_str(), fact),
    };
    let causes = occurred.causes.iter().map(|seq| seq.0).collect::<Vec<_>>();
    let mut cells = vec![Cell::maybe(name)];
    cells.extend(value_cells(value));
    cells.push(Cell::maybe(fact["lane"].as_str().filter(|_| is_of_program)));
    cells.push(if causes.is_empty() {
        Cell::Missing
    } else {
        Value::from(causes).to_string().into()
    });
    cells.extend(place_cells(run, at));
    cells
}

/// Where an event is, at the end of its row.
pub(crate) fn place_cells(run: &str, (seq, time): (Seq, Time)) -> [Cell<'_>; 3] {
    [run.into(), Cell::count(seq.0), Cell::Time(time.0)]
}

/// A value as JSON, as a number and as a text.
fn value_cells(value: &Value) -> [Cell<'_>; 3] {
    let number = value.as_f64().map_or(Cell::Missing, Cell::Real);
    [Cell::json(value), number, Cell::maybe(value.as_str())]
}

/// A version: a number, or the text of one.
fn version(version: &Value) -> Cell<'_> {
    match version {
        Value::String(text) => (&**text).into(),
        version => Cell::json(version),
    }
}

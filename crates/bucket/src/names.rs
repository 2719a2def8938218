//! The names of the objects of a log.

use object_store::path::Path;
use retold::id::RunId;

/// Names objects below a prefix.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    prefix: Path,
}

/// The object that makes a place a log.
pub const MARKER: &str = "retold.json";

/// The ending of objects that hold lines: what reads JSON Lines reads them as they are.
const LINES: &str = ".jsonl.zst";

impl Names {
    pub(crate) fn new(prefix: Path) -> Self {
        Names { prefix }
    }

    fn below(&self, parts: &[&str]) -> Path {
        Path::from_iter(self.prefix.parts().chain(parts.iter().map(|part| (*part).into())))
    }

    /// The object that makes a place a log.
    pub(crate) fn marker(&self) -> Path {
        self.below(&[MARKER])
    }

    /// All segments.
    pub(crate) fn runs(&self) -> Path {
        self.below(&["runs"])
    }

    /// The segments of a run.
    pub(crate) fn run(&self, run: RunId) -> Path {
        self.below(&["runs", &run.to_string()])
    }

    /// A segment, counted from 1.
    pub(crate) fn segment(&self, run: RunId, number: u64) -> Path {
        self.below(&["runs", &run.to_string(), &file(number)])
    }

    /// The run that an object is a segment of.
    pub(crate) fn run_of(&self, path: &Path) -> Option<RunId> {
        let mut below = path.prefix_match(&self.runs())?;
        let run = below.next()?.as_ref().parse().ok()?;
        below.next()?;
        below.next().is_none().then_some(run)
    }

    /// All objects of the ledger.
    pub(crate) fn ledger(&self) -> Path {
        self.below(&["ledger"])
    }

    /// An object of the ledger, counted from 1.
    pub(crate) fn ledger_object(&self, number: u64) -> Path {
        self.below(&["ledger", &file(number)])
    }
}

fn file(number: u64) -> String {
    // Ten digits, so that they are listed in their order.
    format!("{number:010}{LINES}")
}

/// The number in the last part of a name; `None` if the log gives no object such a name.
pub(crate) fn number_of(path: &Path) -> Option<u64> {
    let name = path.filename()?;
    let number = name.strip_suffix(LINES)?.parse().ok()?;
    (number > 0 && file(number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_in_their_order_and_say_their_number() {
        let names = Names::new(Path::from("lab/log"));
        let first = names.segment(RunId([0xab; 8]), 1);
        assert_eq!(first.as_ref(), "lab/log/runs/abababababababab/0000000001.jsonl.zst");
        assert!(first < names.segment(RunId([0xab; 8]), 10));
        assert_eq!(number_of(&names.ledger_object(17)), Some(17));
        for other in ["lab/1.jsonl.zst", "lab/0000000000.jsonl.zst", "lab/0000000001.jsonl", "lab"]
        {
            assert_eq!(number_of(&Path::from(other)), None, "{other}");
        }
    }
}

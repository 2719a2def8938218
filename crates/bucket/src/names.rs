//! The names of the objects of a log.

use object_store::path::Path;
use retold::id::{RunId, Seq};

/// Names objects below a prefix.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    prefix: Path,
}

/// Where a segment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Among the segments that were appended: its first event.
    Object(Seq),
    /// In the compaction up to an event: its first event.
    Compacted(Seq, Seq),
}

impl Place {
    /// The first event of the segment.
    pub(crate) fn first(self) -> Seq {
        match self {
            Place::Object(first) | Place::Compacted(_, first) => first,
        }
    }
}

/// The object that makes a place a log.
pub const MARKER: &str = "retold.json";

/// The ending of objects that hold lines: what reads JSON Lines reads them as they are.
const LINES: &str = ".jsonl.zst";

/// The object that a compaction ends with.
const DIRECTORY: &str = "directory";

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

    /// A segment, by its first event.
    pub(crate) fn segment(&self, run: RunId, first: Seq) -> Path {
        self.below(&["runs", &run.to_string(), &file(first.0)])
    }

    /// The run that an object is a segment of.
    pub(crate) fn run_of(&self, path: &Path) -> Option<RunId> {
        let mut below = path.prefix_match(&self.runs())?;
        let run = below.next()?.as_ref().parse().ok()?;
        below.next()?;
        below.next().is_none().then_some(run)
    }

    /// The compactions of all runs.
    pub(crate) fn compactions(&self) -> Path {
        self.below(&["compacted"])
    }

    /// The compactions of a run.
    pub(crate) fn compacted_run(&self, run: RunId) -> Path {
        self.below(&["compacted", &run.to_string()])
    }

    /// The directory of the compaction of a run up to an event.
    pub(crate) fn directory(&self, run: RunId, end: Seq) -> Path {
        self.below(&["compacted", &run.to_string(), &folder(end), DIRECTORY])
    }

    /// A segment, wherever it is.
    pub(crate) fn segment_at(&self, run: RunId, place: Place) -> Path {
        match place {
            Place::Object(first) => self.segment(run, first),
            Place::Compacted(end, first) => self.compacted_segment(run, end, first),
        }
    }

    /// A segment of that compaction, by its first event.
    pub(crate) fn compacted_segment(&self, run: RunId, end: Seq, first: Seq) -> Path {
        self.below(&["compacted", &run.to_string(), &folder(end), &file(first.0)])
    }

    /// The run and the event of the compaction that an object belongs to.
    pub(crate) fn compaction_of(&self, path: &Path) -> Option<(RunId, Seq)> {
        let mut below = path.prefix_match(&self.compactions())?;
        let run = below.next()?.as_ref().parse().ok()?;
        let end = below.next()?;
        let seq = Seq(end.as_ref().parse().ok()?);
        let name = below.next()?;
        let is_named = name.as_ref() == DIRECTORY || number_of(path).is_some();
        let is_ours = is_named && folder(seq) == end.as_ref() && below.next().is_none();
        is_ours.then_some((run, seq))
    }

    /// The same, if the object is its directory.
    pub(crate) fn directory_of(&self, path: &Path) -> Option<(RunId, Seq)> {
        self.compaction_of(path).filter(|_| path.filename() == Some(DIRECTORY))
    }

    /// All objects of the ledger.
    pub(crate) fn ledger(&self) -> Path {
        self.below(&["ledger"])
    }

    /// An object of the ledger, counted from 1; 0 is the one without entries.
    pub(crate) fn ledger_object(&self, number: u64) -> Path {
        self.below(&["ledger", &file(number)])
    }
}

fn file(number: u64) -> String {
    // Ten digits, so that they are listed in their order.
    format!("{number:010}{LINES}")
}

fn folder(end: Seq) -> String {
    format!("{:010}", end.0)
}

/// Whether an object, by its whole name, is of a compaction.
pub fn is_of_compaction(object: &str) -> bool {
    let mut parts = object.rsplit('/').skip(3);
    parts.next() == Some("compacted")
}

/// The number in the last part of a name; `None` if the log gives no object such a name.
pub(crate) fn number_of(path: &Path) -> Option<u64> {
    let name = path.filename()?;
    let number = name.strip_suffix(LINES)?.parse().ok()?;
    (file(number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_in_their_order_and_say_their_number() {
        let names = Names::new(Path::from("lab/log"));
        let first = names.segment(RunId([0xab; 8]), Seq(1));
        assert_eq!(first.as_ref(), "lab/log/runs/abababababababab/0000000001.jsonl.zst");
        assert!(first < names.segment(RunId([0xab; 8]), Seq(10)));
        assert_eq!(number_of(&names.ledger_object(17)), Some(17));
        for other in ["lab/1.jsonl.zst", "lab/0000000001.jsonl", "lab"] {
            assert_eq!(number_of(&Path::from(other)), None, "{other}");
        }
    }

    #[test]
    fn the_objects_of_a_compaction_are_told_from_others() {
        let names = Names::new(Path::from("lab/log"));
        let (run, end) = (RunId([0xab; 8]), Seq(2730));
        let directory = names.directory(run, end);
        assert_eq!(directory.as_ref(), "lab/log/compacted/abababababababab/0000002730/directory");
        for path in [directory, names.compacted_segment(run, end, Seq(1))] {
            assert_eq!(names.compaction_of(&path), Some((run, end)));
        }
        for other in ["0000002730/x", "2730/directory", "directory", "0000002730/directory/x"] {
            let path = names.compacted_run(run).join(other);
            let path = Path::from(path.as_ref().replace("%2F", "/"));
            assert_eq!(names.compaction_of(&path), None, "{path}");
        }
    }
}

//! The names of the objects of a log.

use object_store::path::Path;
use retold::id::{RunId, Seq};

/// Names objects below a prefix.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    prefix: Path,
}

/// The object that makes a place a log.
pub const MARKER: &str = "retold.json";

/// The ending of objects that hold lines: what reads JSON Lines reads them as they are.
const LINES: &str = ".jsonl.zst";

/// The object that a compaction ends with.
pub(crate) const DIRECTORY: &str = "directory";

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

    /// A part of that compaction: see [`part_name`].
    pub(crate) fn part(&self, run: RunId, end: Seq, name: &str) -> Path {
        self.below(&["compacted", &run.to_string(), &folder(end), name])
    }

    /// The compaction that an object belongs to: the run, the event up to which it goes, and the last part of the
    /// object's name.
    pub(crate) fn compaction_of(&self, path: &Path) -> Option<(RunId, Seq, String)> {
        let mut below = path.prefix_match(&self.compactions())?;
        let run = below.next()?.as_ref().parse().ok()?;
        let end = below.next()?;
        let seq = Seq(end.as_ref().parse().ok()?);
        let name = below.next()?.as_ref().to_owned();
        let is_ours = folder(seq) == end.as_ref() && (name == DIRECTORY || is_part(&name));
        (is_ours && below.next().is_none()).then_some((run, seq, name))
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

fn folder(end: Seq) -> String {
    format!("{:010}", end.0)
}

/// Whether an object, by its whole name, is of a compaction.
pub fn is_of_compaction(object: &str) -> bool {
    let mut parts = object.rsplit('/').skip(3);
    parts.next() == Some("compacted")
}

/// The name of a part of a compaction, counted from 1. It has the beginning of the hash of its bytes: two releases that
/// compress differently do not get into each other's way.
pub(crate) fn part_name(number: usize, bytes: &[u8]) -> String {
    let hash = blake3::hash(bytes).to_hex();
    format!("{number:010}-{}{LINES}", &hash[..PART_DIGITS])
}

/// How many digits of its hash the name of a part has.
const PART_DIGITS: usize = 16;

/// Whether a part of a compaction may have this name.
pub(crate) fn is_part(name: &str) -> bool {
    let parts = name.strip_suffix(LINES).and_then(|name| name.split_once('-'));
    parts.is_some_and(|(number, hash)| {
        number.len() == 10
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && hash.len() == PART_DIGITS
            && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
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

    #[test]
    fn the_objects_of_a_compaction_are_told_from_others() {
        let names = Names::new(Path::from("lab/log"));
        let (run, end) = (RunId([0xab; 8]), Seq(2730));
        let directory = names.directory(run, end);
        assert_eq!(directory.as_ref(), "lab/log/compacted/abababababababab/0000002730/directory");
        let part = part_name(1, b"lines");
        for path in [directory, names.part(run, end, &part)] {
            let (of, to, name) = names.compaction_of(&path).unwrap();
            assert_eq!((of, to, Some(&*name)), (run, end, path.filename()));
        }
        for other in ["0000002730/x", "2730/directory", "directory", "0000002730/directory/x"] {
            let path = names.compacted_run(run).join(other);
            let path = Path::from(path.as_ref().replace("%2F", "/"));
            assert_eq!(names.compaction_of(&path), None, "{path}");
        }
    }
}

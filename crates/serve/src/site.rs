//! What is shown, and what is kept between requests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use minijinja::Environment;
use retold::check::Checked;
use retold::id::{RunId, Seq};
use retold::in_force::{InForce, in_force};
use retold::log::{AskedModels, LogError, Reader, RunHead};
use retold::model::Prices;
use retold_study::parser_file::ParserFile;
use retold_study::studies::Studies;

use crate::error::PageError;
use crate::facts::Fold;
use crate::job::{Jobs, PATIENCE, Stand, locked};
use crate::pages::compare::Compared;
use crate::pages::stats::Counted;
use crate::render;
use crate::roll::{Careful, Roll};
use crate::search::{Search, SearchError};
use crate::source::Source;
use crate::trust::{Damage, Trust, check, missing_end};

/// How many runs are kept in memory, for filters and counts.
const MOST_ROLLS: usize = 8;

/// How many runs' states are kept in memory.
const MOST_FOLDS: usize = 4;

/// How long a page of a damaged log waits for the check of a run or of all runs.
const LONGER: Duration = Duration::from_secs(2);

/// The longest run whose check is waited for, in events.
const MOST_AWAITED: Seq = Seq(20_000);

/// The runs that cannot be trusted, each with the first event that is damaged or missing.
type Survey = Vec<(RunId, Damage)>;

/// A log or recording, and the program's studies.
pub struct Site {
    pub(crate) source: Source,
    pub(crate) studies: Studies,
    pub(crate) prices: Prices,
    pub(crate) templates: Environment<'static>,
    rolls: Mutex<Vec<(RunId, Arc<RollSlot>)>>,
    folds: Mutex<Vec<(RunId, SharedFold)>>,
    verified: Jobs<(RunId, Seq), Trust>,
    /// By the runs that are shown, and their ends.
    surveyed: Jobs<Vec<(RunId, Seq)>, Survey>,
    pub(crate) checks: Jobs<(RunId, Seq, String), Checked>,
    /// By run, its end, and the number of runs in the log.
    accepted: Jobs<(RunId, Seq, usize), InForce>,
    pub(crate) comparisons: Jobs<[(RunId, Seq); 2], Compared>,
    pub(crate) counted: Jobs<(RunId, Seq), Counted>,
    indexed: Jobs<(RunId, Seq), ()>,
    search: Mutex<Option<Search>>,
    /// The folder for an index that cannot be beside the log.
    cache: Option<PathBuf>,
    parser_files: Vec<(String, ParserFile)>,
}

/// The states of a run, once they were asked for; one request at a time looks at them.
pub(crate) type SharedFold = Arc<Mutex<Option<Fold>>>;

/// A roll, and whether it is being read.
pub(crate) struct RollSlot {
    roll: RwLock<Roll>,
    is_reading: Mutex<bool>,
    stopped: Condvar,
}

impl RollSlot {
    pub(crate) fn roll(&self) -> RwLockReadGuard<'_, Roll> {
        self.roll.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Site {
    /// A site about a log or recording, with the prices of tokens. An index for searching is kept in
    /// `cache` if it cannot be beside the log.
    ///
    /// `parser_files` are the only ones that a page decides with: an address names one of them, never
    /// a path.
    pub fn new(
        source: Source,
        studies: Studies,
        prices: Prices,
        cache: Option<PathBuf>,
        parser_files: Vec<ParserFile>,
    ) -> Self {
        Site {
            source,
            studies,
            prices,
            templates: render::templates(),
            rolls: Mutex::default(),
            folds: Mutex::default(),
            verified: Jobs::default(),
            surveyed: Jobs::default(),
            checks: Jobs::default(),
            accepted: Jobs::default(),
            comparisons: Jobs::default(),
            counted: Jobs::default(),
            indexed: Jobs::default(),
            search: Mutex::default(),
            cache,
            parser_files: named(parser_files),
        }
    }

    /// The names of the parser files, as addresses have them.
    pub(crate) fn parser_files(&self) -> impl Iterator<Item = &str> {
        self.parser_files.iter().map(|(name, _)| name.as_str())
    }

    /// The parser file with a name.
    pub(crate) fn parser_file(&self, name: &str) -> Option<&ParserFile> {
        self.parser_files.iter().find(|(other, _)| other == name).map(|(_, file)| file)
    }

    /// The name of what is shown, for titles.
    pub(crate) fn title(&self) -> String {
        let name = self.source.name();
        let file = Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned());
        file.unwrap_or_else(|| name.to_owned())
    }

    /// A reader of the log.
    pub(crate) fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        self.source.reader()
    }

    /// The run that an address names: its whole id, the first digits of it, or `latest`.
    pub(crate) fn find(&self, reader: &mut dyn Reader, name: &str) -> Result<RunHead, PageError> {
        let runs = reader.runs()?;
        let missing =
            || PageError::missing(&self.title(), "run", name, "the page / lists its runs");
        if name == "latest" {
            return runs.into_iter().next_back().ok_or_else(missing);
        }
        let is_hex = !name.is_empty() && name.chars().all(|c| c.is_ascii_hexdigit());
        let wanted = name.to_ascii_lowercase();
        let mut found =
            runs.into_iter().filter(|head| is_hex && head.run.to_string().starts_with(&wanted));
        match (found.next(), found.next()) {
            (Some(run), None) => Ok(run),
            (Some(_), Some(_)) => Err(PageError::NotFound(format!(
                "several runs begin with {wanted}: write more digits of the one that you mean"
            ))),
            (None, _) => Err(missing()),
        }
    }

    /// What is known about a run's events. Waits a moment for what is not read yet.
    pub(crate) fn roll(self: &Arc<Self>, head: &RunHead) -> Arc<RollSlot> {
        let slot = {
            let mut rolls = locked(&self.rolls);
            let at = rolls.iter().position(|(run, _)| *run == head.run);
            let found = at.map(|at| rolls.remove(at)).unwrap_or_else(|| {
                let slot = RollSlot {
                    roll: RwLock::default(),
                    is_reading: Mutex::new(false),
                    stopped: Condvar::new(),
                };
                (head.run, Arc::new(slot))
            });
            let slot = found.1.clone();
            // The one that was used last is at the end.
            rolls.push(found);
            if rolls.len() > MOST_ROLLS {
                rolls.remove(0);
            }
            slot
        };
        let end = slot.roll().end();
        // The head of a run that is cut off may be unknown.
        if end < head.head.seq || end == Seq(0) {
            let mut is_reading = locked(&slot.is_reading);
            if !*is_reading {
                *is_reading = true;
                let (site, slot, run) = (self.clone(), slot.clone(), head.run);
                std::thread::spawn(move || {
                    if let Err(error) = site.read_on(&slot, run) {
                        tracing::warn!(%error, "a run could not be read");
                    }
                    *locked(&slot.is_reading) = false;
                    slot.stopped.notify_all();
                });
            }
            let waited =
                slot.stopped.wait_timeout_while(is_reading, PATIENCE, |is_reading| *is_reading);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
        slot
    }

    /// Reads a run to its end into its roll.
    fn read_on(&self, slot: &RollSlot, run: RunId) -> Result<(), LogError> {
        let mut reader = Careful::new(self.reader()?, self.reader()?);
        let mut models = AskedModels::default();
        loop {
            let after = slot.roll().end();
            let batch = Roll::next(&mut reader, &mut models, run, after)?;
            let mut roll = slot.roll.write().unwrap_or_else(PoisonError::into_inner);
            if roll.add(batch) {
                return Ok(());
            }
        }
    }

    /// What is wrong with a run, as far as this is known by now.
    pub(crate) fn checked(self: &Arc<Self>, head: &RunHead) -> Trust {
        let (site, run, last) = (self.clone(), head.run, head.head.seq);
        let is_damaged = self.source.is_damaged();
        let missing = || missing_end(&self.source, run, last).ok().flatten();
        let missing = if is_damaged { missing() } else { None };
        let read = self.roll(head).roll().damage.clone();
        // Every page asks, and waits only if it is known that something is wrong.
        let is_damaged = is_damaged || read.is_some();
        let patience = if is_damaged && last <= MOST_AWAITED { LONGER } else { Duration::ZERO };
        let whole = self.verified.within(patience, (run, last), move |_| {
            check(&site.source, run).map_err(|error| error.to_string())
        });
        let whole = match whole {
            Stand::Done(trust) => (*trust).clone(),
            Stand::Running(_) | Stand::Failed(_) => Trust::default(),
        };
        let found = Damage::first(Damage::first(whole.from, missing), read);
        Trust { from: found, ..whole }
    }

    /// The first event of a run from which on it cannot be trusted, as far as this is known by now.
    pub(crate) fn untrusted(self: &Arc<Self>, head: &RunHead) -> Option<u64> {
        self.checked(head).from.map(|damage| damage.seq.0)
    }

    /// The runs that cannot be trusted, as far as this is known by now, and whether all were checked.
    /// Runs of a log of which nothing is known to be missing are checked when they are looked at.
    pub(crate) fn survey(self: &Arc<Self>, heads: &[RunHead]) -> (Survey, bool) {
        let missing = |head: &RunHead| {
            let found = missing_end(&self.source, head.run, head.head.seq).ok().flatten();
            found.map(|damage| (head.run, damage))
        };
        if !self.source.is_damaged() {
            return (Vec::new(), true);
        }
        let (site, all) = (self.clone(), heads.to_vec());
        let of = heads.iter().map(|head| (head.run, head.head.seq)).collect();
        let stand = self.surveyed.within(LONGER, of, move |progress| {
            let mut found = Vec::new();
            for (done, head) in all.iter().enumerate() {
                progress.at(done as u64);
                let checked = check(&site.source, head.run).map_err(|error| error.to_string())?;
                found.extend(checked.from.map(|damage| (head.run, damage)));
            }
            Ok(found)
        });
        match stand {
            Stand::Done(found) => ((*found).clone(), true),
            Stand::Running(_) => (heads.iter().filter_map(missing).collect(), false),
            Stand::Failed(_) => (heads.iter().filter_map(missing).collect(), true),
        }
    }

    /// Which decisions are in force for a run's answers, as far as this is known by now.
    pub(crate) fn in_force(self: &Arc<Self>, head: &RunHead, runs: usize) -> Stand<InForce> {
        let (site, run) = (self.clone(), head.run);
        self.accepted.of((run, head.head.seq, runs), move |_| {
            let readers = site.reader().and_then(|one| Ok((one, site.reader()?)));
            let found = readers
                .and_then(|(mut one, mut others)| in_force(one.as_mut(), others.as_mut(), run));
            found.map_err(|error| error.to_string())
        })
    }

    /// The events of a run that have all words of a text, or how many events are indexed so far.
    pub(crate) fn hits(
        self: &Arc<Self>,
        head: &RunHead,
        text: &str,
    ) -> Result<Stand<BTreeSet<Seq>>, PageError> {
        let (site, run) = (self.clone(), head.run);
        let indexed = self.indexed.of((run, head.head.seq), move |progress| {
            let mut search = locked(&site.search);
            if search.is_none() {
                let place = site.source.place_for_search(site.cache.clone());
                *search = Some(Search::open(&place).map_err(|error| error.to_string())?);
            }
            let Some(search) = search.as_mut() else { return Ok(()) };
            let mut reader = site.reader().map_err(|error| error.to_string())?;
            let read = search.read_on(reader.as_mut(), run, |at| progress.at(at.0));
            read.map_err(|error| error.to_string())
        });
        match indexed {
            Stand::Running(done) => Ok(Stand::Running(done)),
            Stand::Failed(why) => Ok(Stand::Failed(why)),
            Stand::Done(_) => match self.search.try_lock() {
                Ok(search) => {
                    let found = search.as_ref().map(|search| search.find(run, text));
                    let found = found.transpose().map_err(|error| match error {
                        SearchError::NoWord(_) => PageError::BadRequest(error.to_string()),
                        error => PageError::NotFound(error.to_string()),
                    })?;
                    Ok(Stand::Done(Arc::new(found.unwrap_or_default())))
                }
                // Another run is being indexed.
                Err(_) => Ok(Stand::Running(0)),
            },
        }
    }

    /// The states of a run.
    pub(crate) fn fold(&self, run: RunId) -> SharedFold {
        let mut folds = locked(&self.folds);
        let at = folds.iter().position(|(of, _)| *of == run);
        let found = at.map(|at| folds.remove(at)).unwrap_or_else(|| (run, Arc::default()));
        let fold = found.1.clone();
        folds.push(found);
        if folds.len() > MOST_FOLDS {
            folds.remove(0);
        }
        fold
    }
}

/// Each file with its name; of several with one name, the later ones have a number.
fn named(files: Vec<ParserFile>) -> Vec<(String, ParserFile)> {
    let mut all: Vec<(String, ParserFile)> = Vec::new();
    for file in files {
        let name = format!("file:{}", file.name());
        let taken = |name: &str| all.iter().any(|(other, _)| other == name);
        let numbered = (2_u32..).map(|number| format!("{name}({number})"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name));
        all.push((free.unwrap_or(name), file));
    }
    all
}

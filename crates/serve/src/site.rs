//! The source of the pages, and the results that are kept between requests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use minijinja::Environment;
use retold::check::DecisionCheck;
use retold::effective::{EffectiveDecisions, effective_decisions};
use retold::event::RunStarted;
use retold::id::{RunId, Seq, Time};
use retold::log::{AskedModels, Backend, Head, LogError, Reader, RunHead};
use retold::model::Prices;
use retold::run::AnswerCosts;
use retold_archive::search::{Search, SearchError, terms};
use retold_archive::{Damage, FindError, LogVersion, missing_end};
use retold_figures::FigureTable;
use retold_figures::agreement::RatedAnswers;
use retold_plan::FigureSearch;
use retold_study::parser_file::{FileDecision, ParserFile};
use retold_study::studies::Studies;

use crate::agreement::{AgreementKey, RunAgreement};
use crate::background::{Background, WAIT_TIMEOUT, lock};
use crate::computed::{RunComparison, RunTotals};
use crate::decision_columns::DecisionColumns;
use crate::error::PageError;
use crate::event_columns::EventColumns;
use crate::facts::Fold;
use crate::job::{JobState, Jobs};
use crate::render;
use crate::run_summary::Summaries;
use crate::source::SiteSource;

/// How many runs are kept in memory, for filters and counts.
const MOST_ROLLS: usize = 8;

/// How long a page waits for a run to be read that is not long.
const LONGER: Duration = Duration::from_secs(2);

/// The most events that are waited for so long.
const MOST_AWAITED: u64 = 20_000;

/// How many runs' states are kept in memory.
const MOST_FOLDS: usize = 4;

/// How many runs' ratings are kept in memory, and how many comparisons of them.
const MOST_RATED: usize = 4;

/// A log or recording, and the program's studies.
pub struct Site {
    pub(crate) source: SiteSource,
    pub(crate) studies: Studies,
    pub(crate) prices: Prices,
    pub(crate) templates: Environment<'static>,
    rolls: Mutex<Vec<(RunId, Arc<EventColumnsSlot>)>>,
    folds: Mutex<Vec<(RunId, SharedFold)>>,
    pub(crate) checks: Jobs<(RunId, Seq, String), DecisionCheck>,
    /// By run, its end, and the number of runs in the log.
    accepted: Jobs<(RunId, Seq, usize), EffectiveDecisions>,
    pub(crate) comparisons: Jobs<[(RunId, Seq); 2], RunComparison>,
    pub(crate) counted: Jobs<(RunId, Seq), RunTotals>,
    /// By run, the event up to which it is read, and the number of runs in the log, as the next.
    pub(crate) figured: Jobs<(RunId, Seq, usize), Vec<FigureTable>>,
    /// What else there is to them.
    pub(crate) searched: Jobs<(RunId, Seq, usize), Vec<FigureSearch>>,
    pub(crate) in_force: Jobs<(RunId, Seq, usize), DecisionColumns>,
    pub(crate) rated: Jobs<(RunId, Seq, usize), RatedAnswers>,
    pub(crate) agreements: Jobs<AgreementKey, RunAgreement>,
    pub(crate) summed: Arc<Background<Summaries>>,
    indexed: Jobs<(RunId, Seq), ()>,
    search: Mutex<Option<Search>>,
    /// The folder for an index that cannot be beside the log.
    cache: Option<PathBuf>,
    parser_files: Vec<(String, FileDecision)>,
}

/// The states of a run, once they were asked for; one request at a time looks at them.
pub(crate) type SharedFold = Arc<Mutex<Option<Fold>>>;

/// A roll, and how far reading it has come.
#[derive(Default)]
pub(crate) struct EventColumnsSlot {
    roll: RwLock<EventColumns>,
    reading: Arc<Background<Reading>>,
    /// What its answers cost, as far as it is read.
    costs: Mutex<Option<AnswerCosts>>,
}

/// Whether a roll is being read.
#[derive(Default)]
struct Reading {
    is_running: bool,
    /// The end of the run when it was last read as far as it can be: a damaged one is read up to its damage.
    done: Option<Seq>,
    /// The log from which it was read.
    of: LogVersion,
}

impl EventColumnsSlot {
    pub(crate) fn roll(&self) -> RwLockReadGuard<'_, EventColumns> {
        self.roll.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether everything is read that can be read of a run.
    pub(crate) fn is_read(&self, head: &RunHead) -> bool {
        let end = self.roll().end();
        end >= head.head.seq && end > Seq(0) || self.reading.state().done == Some(head.head.seq)
    }
}

impl Site {
    /// A site about a log or recording, with the prices of tokens. An index for searching is kept in
    /// `cache` if it cannot be beside the log.
    ///
    /// `parser_files` are the only ones that a page decides with: an address names one of them, never
    /// a path.
    pub fn new(
        source: SiteSource,
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
            checks: Jobs::default(),
            accepted: Jobs::default(),
            comparisons: Jobs::default(),
            counted: Jobs::default(),
            figured: Jobs::default(),
            searched: Jobs::default(),
            in_force: Jobs::default(),
            rated: Jobs::keeping(MOST_RATED),
            agreements: Jobs::keeping(MOST_RATED),
            summed: Arc::default(),
            indexed: Jobs::default(),
            search: Mutex::default(),
            cache,
            parser_files: name_files(parser_files),
        }
    }

    /// The names of the parser files, as addresses have them.
    pub(crate) fn parser_files(&self) -> impl Iterator<Item = &str> {
        self.parser_files.iter().map(|(name, _)| name.as_str())
    }

    /// The parser file with a name.
    pub(crate) fn parser_file(&self, name: &str) -> Option<&FileDecision> {
        self.parser_files.iter().find(|(other, _)| other == name).map(|(_, file)| file)
    }

    /// The name of the source, for titles.
    pub(crate) fn title(&self) -> String {
        let name = self.source.name();
        let file = Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned());
        file.unwrap_or_else(|| name.to_owned())
    }

    /// A reader of the log, which compares each event with its hash.
    pub(crate) fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        self.source.reader()
    }

    /// The run that an address names, as every command names it: see [`retold_archive::find`]. A run of which
    /// nothing is left has an address as well, if something still names it.
    pub(crate) fn find(&self, name: &str) -> Result<RunHead, PageError> {
        let instead = "the page / lists its runs";
        let name_of = |started: &RunStarted| self.studies.run_name(started);
        match retold_archive::find(self.source.backend()?.as_ref(), name, &name_of) {
            Ok(found) => Ok(found.head),
            Err(FindError::Gone { finding, .. }) => match finding.run {
                Some(run) => Ok(RunHead { run, started: Time(0), head: Head::START }),
                None => Err(PageError::missing(&self.title(), "run", name, instead)),
            },
            Err(FindError::Log(error)) => Err(error.into()),
            Err(error @ (FindError::Ambiguous { .. } | FindError::NameAndId { .. })) => Err(
                PageError::NotFound(format!("{error}: write more digits of the one that you mean")),
            ),
            Err(error @ FindError::AtTheSameTime { .. }) => {
                Err(PageError::NotFound(format!("{error}: write the id of the one that you mean")))
            }
            Err(_) => Err(PageError::missing(&self.title(), "run", name, instead)),
        }
    }

    /// The columns of a run's events. Waits for events that are not read yet: a moment, or longer in a short run.
    pub(crate) fn roll(self: &Arc<Self>, head: &RunHead) -> Arc<EventColumnsSlot> {
        let slot = {
            let mut rolls = lock(&self.rolls);
            let at = rolls.iter().position(|(run, _)| *run == head.run);
            let found = at.map(|at| rolls.remove(at)).filter(|(_, slot)| !self.is_outdated(slot));
            let found = found.unwrap_or_else(|| (head.run, Arc::default()));
            let slot = found.1.clone();
            // The one that was used last is at the end.
            rolls.push(found);
            if rolls.len() > MOST_ROLLS {
                rolls.remove(0);
            }
            slot
        };
        // The head of a run that is cut off may be unknown.
        if !slot.is_read(head) {
            let was_running = std::mem::replace(&mut slot.reading.state().is_running, true);
            if !was_running {
                let (site, read, run, end) = (self.clone(), slot.clone(), head.run, head.head.seq);
                let of = self.source.archive().map(|of| of.version().clone()).unwrap_or_default();
                slot.reading.begin(
                    move || Ok(site.read_on(&read, run)?),
                    move |reading, read| {
                        if let Err(error) = &read {
                            tracing::warn!(%error, "a run could not be read");
                        }
                        let done = read.is_ok().then_some(end);
                        *reading = Reading { is_running: false, done, of };
                    },
                );
            }
            let timeout = if head.head.seq.0 <= MOST_AWAITED { LONGER } else { WAIT_TIMEOUT };
            drop(slot.reading.wait_while(timeout, |reading| reading.is_running));
        }
        slot
    }

    /// Whether a roll is not of the log as it is: of another file or of one that was cut off, or with damage that was met before
    /// a change.
    fn is_outdated(&self, slot: &EventColumnsSlot) -> bool {
        let reading = slot.reading.state();
        let Ok(now) = self.source.archive() else { return false };
        let (now, of) = (now.version(), &reading.of);
        !reading.is_running && (slot.roll().damage.is_some() && now != of || !now.continues(of))
    }

    /// Reads a run to its end or its damage into its roll.
    fn read_on(&self, slot: &EventColumnsSlot, run: RunId) -> Result<(), LogError> {
        let (mut reader, mut others) = (self.reader()?, self.reader()?);
        let mut models = AskedModels::default();
        let mut costs = lock(&slot.costs);
        let costs = costs.get_or_insert_with(|| AnswerCosts::new(&self.prices));
        loop {
            let (after, others) = (slot.roll().end(), others.as_mut());
            let batch =
                EventColumns::next(reader.as_mut(), others, &mut models, costs, run, after)?;
            let mut roll = slot.roll.write().unwrap_or_else(PoisonError::into_inner);
            if roll.add(batch) {
                return Ok(());
            }
        }
    }

    /// Forgets what was read of a run: it is not in the log as it is now.
    pub(crate) fn forget(&self, run: RunId) {
        self.source.look_again();
        lock(&self.rolls).retain(|(of, _)| *of != run);
    }

    /// The first event of a run from which on it cannot be trusted, as far as this is known by now.
    pub(crate) fn damage(&self, head: &RunHead) -> Option<Damage> {
        let (run, last) = (head.run, head.head.seq);
        let archive = self.source.archive().ok();
        let missing = archive.and_then(|archive| {
            let log = archive.backend().as_ref();
            match head.head == Head::START {
                true => damage_of_gone(log, run),
                false if archive.is_damaged() => missing_end(log, run, last).ok().flatten(),
                false => None,
            }
        });
        // The columns for filters and counts reach further in a run that grows.
        let slot =
            lock(&self.rolls).iter().find(|(of, _)| *of == run).map(|(_, slot)| slot.clone());
        Damage::first(missing, slot.and_then(|slot| slot.roll().damage.clone()))
    }

    /// Whether a run is still being read, so that its damage may not be known yet.
    pub(crate) fn is_being_read(&self, run: RunId) -> bool {
        let rolls = lock(&self.rolls);
        let slot = rolls.iter().find(|(of, _)| *of == run);
        slot.is_some_and(|(_, slot)| slot.reading.state().is_running)
    }

    /// The number of this event.
    pub(crate) fn first_untrusted(&self, head: &RunHead) -> Option<u64> {
        self.damage(head).map(|damage| damage.seq.0)
    }

    /// Which decisions are in force for a run's answers, as far as this is known by now.
    pub(crate) fn effective_decisions(
        self: &Arc<Self>,
        head: &RunHead,
        runs: usize,
    ) -> JobState<EffectiveDecisions> {
        let (site, run) = (self.clone(), head.run);
        self.accepted.stand((run, head.head.seq, runs), move |_| {
            let (mut one, mut others) = (site.reader()?, site.reader()?);
            Ok(effective_decisions(one.as_mut(), others.as_mut(), run)?)
        })
    }

    /// The events of a run that have all words of a text, or how many events are indexed so far.
    pub(crate) fn hits(
        self: &Arc<Self>,
        head: &RunHead,
        text: &str,
    ) -> Result<JobState<BTreeSet<Seq>>, PageError> {
        // Nothing is indexed for it.
        if terms(text).is_empty() {
            return Err(PageError::BadRequest(SearchError::NoWord(text.to_owned()).to_string()));
        }
        let (site, run) = (self.clone(), head.run);
        let indexed = self.indexed.stand((run, head.head.seq), move |progress| {
            let mut search = lock(&site.search);
            if search.is_none() {
                let archive = site.source.archive()?;
                let place = archive.place_for_search(site.cache.clone());
                *search = Some(Search::open(&place)?);
            }
            let Some(search) = search.as_mut() else { return Ok(()) };
            let mut reader = site.reader()?;
            Ok(search.read_on(reader.as_mut(), run, |at| progress.at(at.0))?)
        });
        match indexed {
            JobState::Running(done) => Ok(JobState::Running(done)),
            JobState::Failed(why) => Ok(JobState::Failed(why)),
            JobState::Done(_) => match self.search.try_lock() {
                Ok(search) => {
                    let found = search.as_ref().map(|search| search.find(run, text));
                    let found = found.transpose().map_err(|error| match error {
                        SearchError::NoWord(_) => PageError::BadRequest(error.to_string()),
                        error => PageError::NotFound(error.to_string()),
                    })?;
                    Ok(JobState::Done(Arc::new(found.unwrap_or_default())))
                }
                // Another run is being indexed.
                Err(_) => Ok(JobState::Running(0)),
            },
        }
    }

    /// The states of a run.
    pub(crate) fn fold(&self, run: RunId) -> SharedFold {
        let mut folds = lock(&self.folds);
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

/// Each file with its name; of several with one name, the later ones have a number. Of a file that names its decisions, each
/// is one.
fn name_files(files: Vec<ParserFile>) -> Vec<(String, FileDecision)> {
    let mut all: Vec<(String, FileDecision)> = Vec::new();
    for file in files {
        let of_file = format!("file:{}", file.name());
        for decision in file.into_decisions() {
            let name = match decision.name() {
                Some(decision) => format!("{of_file}/{decision}"),
                None => of_file.clone(),
            };
            let taken = |name: &str| all.iter().any(|(other, _)| other == name);
            let numbered = (2_u32..).map(|number| format!("{name}({number})"));
            let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name));
            all.push((free.unwrap_or(name), decision));
        }
    }
    all
}

/// The damage of a run of which nothing is left.
fn damage_of_gone(log: &dyn Backend, run: RunId) -> Option<Damage> {
    match retold_archive::find(log, &run.to_string(), &|_| None) {
        Err(FindError::Gone { finding, .. }) => {
            Some(Damage { seq: finding.seq.unwrap_or(Seq(1)), fault: finding.fault })
        }
        _ => None,
    }
}

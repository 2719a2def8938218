//! From a config to an experiment, and from a recorded run back to one.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::reenact::{Reenact, ReenactError, Reenactment};
use super::study::{SettingsOf, Stored, Study};
use super::{
    adventure, deliberation, game24, public_goods, public_goods_log, society, society_log,
};
use crate::config::{ConfigError, Head, load, located, read_text, with_overrides};
use crate::inert::inert;
use crate::model::simulated::Player;
use crate::run::{AnyExperiment, Journal, RunRecord};

/// One experiment, as the registry knows it.
struct Entry {
    name: &'static str,
    load: fn(&Path, &str, &[String]) -> Result<Study, ConfigError>,
    build: fn(&Value) -> Result<Box<dyn AnyExperiment>, String>,
    /// Checks settings as `load` checks a config.
    check: fn(&Value) -> Result<(), String>,
    player: fn() -> Box<dyn Player>,
    /// Where its config says who answers.
    model_key: &'static str,
    /// Keys by which a config is recognised that does not name its experiment: those of a document's own format.
    /// Two of them are enough, so that a missing one is reported as such.
    known_by: &'static [&'static str],
    /// The name of its output folder, of settings that may lack what is drawn when a run begins.
    output_name: fn(&Value) -> Option<String>,
    /// What it says of a run while that goes on.
    journal: Option<Keeps>,
    /// Original runs of another program, told again by ours.
    originals: Option<Originals>,
}

/// Begins the journal of a run whose output folder has this name.
type Keeps = fn(&str) -> Box<dyn Journal>;

/// How original runs of another program are taken in.
struct Originals {
    /// What `retold import` calls them. Which experiment tells one again is seen in its files only.
    import: &'static str,
    reenact: Reenact,
}

const DELIBERATIONS: Originals =
    Originals { import: "deliberation", reenact: deliberation::reenact };
const PUBLIC_GOODS: Originals =
    Originals { import: "public-goods", reenact: public_goods_log::reenact };
const SOCIETIES: Originals = Originals { import: "society", reenact: society_log::reenact };

const ENTRIES: &[Entry] = &[
    Entry {
        name: adventure::NAME,
        load: adventure::load,
        build: |settings| Ok(Box::new(adventure::Adventure::from_settings(settings)?)),
        check: |settings| adventure::Adventure::from_settings(settings).map(|_| ()),
        player: || Box::new(adventure::SimulatedMaster),
        model_key: "model",
        known_by: &[],
        output_name: |_| None,
        journal: None,
        originals: None,
    },
    Entry {
        name: deliberation::NAME,
        load: deliberation::load,
        build: |settings| Ok(Box::new(deliberation::Deliberation::from_settings(settings)?)),
        check: deliberation::check_settings,
        player: || Box::new(deliberation::SimulatedDeliberation),
        model_key: "provider",
        known_by: deliberation::KNOWN_BY,
        output_name: |settings| text_at(settings, "/config/pilot_id"),
        journal: Some(deliberation::journal),
        originals: Some(DELIBERATIONS),
    },
    Entry {
        name: game24::NAME,
        load: game24::load,
        build: |settings| Ok(Box::new(game24::Game24::from_settings(settings)?)),
        check: game24::check_settings,
        player: || Box::new(game24::SimulatedSolver),
        model_key: "model",
        known_by: &[],
        output_name: |_| None,
        journal: None,
        originals: None,
    },
    Entry {
        name: public_goods::NAME,
        load: public_goods::load,
        build: |settings| Ok(Box::new(public_goods::PublicGoods::from_settings(settings)?)),
        check: public_goods::check_settings,
        player: || Box::new(public_goods::SimulatedPlayers),
        model_key: "model",
        known_by: &[],
        output_name: |settings| text_at(settings, "/config/experiment_id"),
        journal: None,
        originals: Some(PUBLIC_GOODS),
    },
    Entry {
        name: public_goods_log::NAME,
        load: public_goods_log::load,
        build: |settings| Ok(Box::new(public_goods_log::PublicGoodsLog::from_settings(settings)?)),
        check: public_goods_log::check_settings,
        // Never asked: its runs have answers of their own.
        player: || Box::new(public_goods::SimulatedPlayers),
        model_key: "model",
        known_by: &[],
        output_name: |_| None,
        journal: None,
        originals: Some(PUBLIC_GOODS),
    },
    Entry {
        name: society::NAME,
        load: society::load,
        build: |settings| Ok(Box::new(society::Society::from_settings(settings)?)),
        check: society::check_settings,
        player: || Box::new(society::SimulatedSociety),
        model_key: "model",
        known_by: &[],
        output_name: |_| None,
        journal: None,
        originals: Some(SOCIETIES),
    },
    Entry {
        name: society_log::NAME,
        load: society_log::load,
        build: |settings| Ok(Box::new(society_log::SocietyLog::from_settings(settings)?)),
        check: society_log::check_settings,
        // Never asked: its runs have answers of their own.
        player: || Box::new(society::SimulatedSociety),
        model_key: "model",
        known_by: &[],
        output_name: |_| None,
        journal: None,
        originals: Some(SOCIETIES),
    },
];

/// What an experiment draws from outside its config, just before a run is recorded, and what a run
/// leaves there for later ones.
struct Supply {
    name: &'static str,
    draw: fn(&Path, &mut Study) -> Result<(), ConfigError>,
    /// Puts into settings what a run of them drew when it began.
    take_over: fn(&mut Value, &Value),
    /// Whether a run with these settings leaves anything.
    stores: fn(&Value) -> bool,
    store: fn(&RunRecord<'_>, SettingsOf) -> Result<Stored, String>,
}

const SUPPLIES: &[Supply] = &[
    Supply {
        name: deliberation::NAME,
        draw: deliberation::personas::draw,
        take_over: deliberation::personas::take_over,
        stores: |settings| !settings["pool"].is_null(),
        store: deliberation::personas::store,
    },
    Supply {
        name: game24::NAME,
        draw: game24::draw,
        take_over: |_, _| {},
        stores: |_| false,
        store: |_, _| Ok(Stored::Nothing),
    },
];

/// Why a recorded run cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// No experiment of that name.
    #[error("there is no experiment {name:?}; the experiments are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The recorded settings do not fit.
    #[error("the recorded settings of experiment {name} do not fit: {reason}")]
    BadSettings {
        /// The experiment.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

fn entry(name: &str) -> Result<&'static Entry, RegistryError> {
    let known = || ENTRIES.iter().map(|e| e.name).collect::<Vec<_>>().join(", ");
    ENTRIES
        .iter()
        .find(|e| e.name == name)
        .ok_or_else(|| RegistryError::Unknown { name: name.to_owned(), known: known() })
}

/// Reads a config file. `experiment` overrides the name in it; a file without a name is recognised by its keys if it is
/// in a document's own format. `overrides` are `KEY=VALUE`.
///
/// # Errors
/// [`ConfigError`] with file and line.
pub fn study(
    path: &Path,
    experiment: Option<&str>,
    overrides: &[String],
) -> Result<Study, ConfigError> {
    let text = read_text(path)?;
    let value = |key: &str, message: String| ConfigError::Value {
        path: path.display().to_string(),
        key: key.to_owned(),
        message,
    };
    let named = match experiment {
        Some(name) => name.to_owned(),
        None => load::<Head>(path, &text)?
            .experiment
            .or_else(|| recognised(path, &text))
            .ok_or_else(|| {
                // A key that is nowhere is missing from the top.
                let first = text.lines().next().unwrap_or_default();
                ConfigError::Invalid {
                    path: path.display().to_string(),
                    line: 1,
                    column: 1,
                    message:
                        "the key \"experiment\" is missing: name it, here or with --experiment"
                            .to_owned(),
                    snippet: format!("   1 | {}", inert(first, 120)),
                }
            })?,
    };
    let entry = entry(&named).map_err(|e| value("experiment", e.to_string()));
    if experiment.is_some() {
        // The name is not from the file.
        entry.clone()?;
    }
    let checked = entry.and_then(|entry| {
        let study = (entry.load)(path, &text, overrides)?;
        study.settings.runtime.check(&path.display().to_string())?;
        kinds_are_known(entry, &study).map_err(|(key, message)| value(&key, message))?;
        if study.seed > 1 << 53 {
            return Err(value("seed", format!("at most 2^53, not {}", study.seed)));
        }
        let given: Value = with_overrides(load(path, &text)?, overrides)?;
        Ok((entry.model_key, given, study))
    });
    let (group, given, mut study) =
        checked.map_err(|error| located(error, path, &text, overrides))?;
    // Without the line: what is wrong may be a key that stands there.
    let named = study.settings.runtime.model.named_by_config(path, &given[group]);
    named.map_err(|(key, message)| value(&format!("{group}.{key}"), message))?;
    Ok(study)
}

/// The experiment whose document has configs with these keys, if it is exactly one.
fn recognised(path: &Path, text: &str) -> Option<String> {
    let keys: BTreeMap<String, IgnoredAny> = load(path, text).ok()?;
    let has_two =
        |entry: &&Entry| entry.known_by.iter().filter(|key| keys.contains_key(**key)).count() >= 2;
    let mut found = ENTRIES.iter().filter(has_two);
    found.next().filter(|_| found.next().is_none()).map(|entry| entry.name.to_owned())
}

/// The simulated model of each experiment knows its own kinds of malformed answers.
fn kinds_are_known(entry: &Entry, study: &Study) -> Result<(), (String, String)> {
    let kinds = (entry.player)().kinds();
    let named = &study.settings.runtime.model.rates.malformed_kinds;
    match named.keys().find(|kind| !kinds.contains(&kind.as_str())) {
        None => Ok(()),
        Some(kind) => Err((
            format!("{}.rates.malformed_kinds.{kind}", entry.model_key),
            format!(
                "there is no kind {kind:?} of malformed answers to {}; the kinds are {}",
                entry.name,
                kinds.join(", ")
            ),
        )),
    }
}

/// Draws what a study needs from outside its config (a pool, a URL) into its settings, once it is
/// known who answers. Most experiments need nothing.
///
/// # Errors
/// [`ConfigError`] with file and line.
pub fn supply(path: &Path, study: &mut Study, overrides: &[String]) -> Result<(), ConfigError> {
    let Some(supply) = SUPPLIES.iter().find(|s| s.name == study.experiment) else { return Ok(()) };
    let drawn = (supply.draw)(path, study);
    drawn.or_else(|error| Err(located(error, path, &read_text(path)?, overrides)))
}

/// Puts what a run drew from outside its config when it began into the settings of the same config, so that the two
/// can be compared: it is not drawn again.
pub fn take_over(experiment: &str, settings: &mut Value, recorded: &Value) {
    // A run that an earlier release began goes on by the rules of its edition.
    if let Some(settings) = settings.as_object_mut().filter(|now| now.contains_key(EDITION)) {
        settings.remove(EDITION);
        settings.extend(recorded.get(EDITION).map(|edition| (EDITION.to_owned(), edition.clone())));
    }
    if let Some(supply) = SUPPLIES.iter().find(|s| s.name == experiment) {
        (supply.take_over)(settings, recorded);
    }
}

/// Where settings have their [edition](super::edition::Edition).
const EDITION: &str = "edition";

/// The name of the folder that a run with these settings writes, if they give it one. What is drawn when a run begins
/// need not be in them yet.
///
/// # Errors
/// [`RegistryError::Unknown`].
pub fn output_name(experiment: &str, settings: &Value) -> Result<Option<String>, RegistryError> {
    Ok((entry(experiment)?.output_name)(settings))
}

/// What an experiment says of a run while that goes on, if it does; `output_name` is the name of the run's folder.
///
/// # Errors
/// [`RegistryError::Unknown`].
pub fn journal(
    experiment: &str,
    output_name: &str,
) -> Result<Option<Box<dyn Journal>>, RegistryError> {
    Ok(entry(experiment)?.journal.map(|journal| journal(output_name)))
}

/// A text in settings.
fn text_at(settings: &Value, pointer: &str) -> Option<String> {
    settings.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

/// Whether an experiment may have a part of this name to tell of: asked before a long run is folded to see. Parts
/// are a name, or a group and a name in it; games of 24 have none.
pub fn may_have_part(experiment: &str, name: &str) -> bool {
    experiment != game24::NAME && name.matches('/').count() < 2
}

/// Whether a run of an experiment with these settings leaves something for later ones.
pub fn stores(experiment: &str, settings: &Value) -> bool {
    let supply = SUPPLIES.iter().find(|s| s.name == experiment);
    supply.is_some_and(|supply| (supply.stores)(settings))
}

/// Stores what a run has left for later ones, if it does that. To do it again changes nothing. `settings`
/// says whose they are: a file that only a recording names is not written.
///
/// # Errors
/// What cannot be read or written, in words.
pub fn store(record: &RunRecord<'_>, settings: SettingsOf) -> Result<Stored, String> {
    let supply = SUPPLIES.iter().find(|s| s.name == record.started.experiment);
    supply.map_or(Ok(Stored::Nothing), |supply| (supply.store)(record, settings))
}

/// The experiment of recorded settings.
///
/// # Errors
/// [`RegistryError`]: not known to this program, or settings of another release.
pub fn build(name: &str, settings: &Value) -> Result<Box<dyn AnyExperiment>, RegistryError> {
    (entry(name)?.build)(settings)
        .map_err(|reason| RegistryError::BadSettings { name: name.to_owned(), reason })
}

/// Checks the settings of a fork as a config is checked. What is wrong with its parent's, too, passes:
/// original runs may have what a config may not.
///
/// # Errors
/// [`RegistryError`]: not known to this program, or a value that makes no sense.
pub fn check_fork(name: &str, settings: &Value, parent: &Value) -> Result<(), RegistryError> {
    let check = entry(name)?.check;
    let Err(reason) = check(settings) else { return Ok(()) };
    match check(parent) {
        Err(before) if before == reason => Ok(()),
        _ => Err(RegistryError::BadSettings { name: name.to_owned(), reason }),
    }
}

/// Who plays an experiment for the simulated model.
///
/// # Errors
/// [`RegistryError::Unknown`].
pub fn player(name: &str) -> Result<Box<dyn Player>, RegistryError> {
    Ok((entry(name)?.player)())
}

/// Whether there is an experiment of a name.
pub fn knows(name: &str) -> bool {
    entry(name).is_ok()
}

/// Whether something is the name of an experiment that knows original runs of other programs.
pub fn knows_originals(name: &str) -> bool {
    entry(&name.replace('-', "_")).is_ok_and(|entry| entry.originals.is_some())
}

/// What `retold import` calls the original runs that an experiment tells again; its own name if there are
/// none.
pub fn import_name(experiment: &str) -> &str {
    let originals = entry(experiment).ok().and_then(|entry| entry.originals.as_ref());
    originals.map_or(experiment, |originals| originals.import)
}

/// Reads an original run of another program, to be executed again by an experiment; `None` if the
/// experiment knows no such runs.
///
/// # Errors
/// [`RegistryError::Unknown`], or what is wrong with the files.
pub fn reenact(
    name: &str,
    path: &Path,
) -> Result<Option<Result<Reenactment, ReenactError>>, RegistryError> {
    // `public-goods` is easier to type than `public_goods`.
    let originals = entry(&name.replace('-', "_"))?.originals.as_ref();
    Ok(originals.map(|originals| (originals.reenact)(path)))
}

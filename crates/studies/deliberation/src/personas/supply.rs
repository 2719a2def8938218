//! The personas that a run takes from the pool and adds to it, by the source document's rule: the
//! pool is filled up to one and a half times the number of participants, drawn from all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pool::{self, EnrichedPersona, Pool};
use super::source::{Collection, PersonaError};
use crate::{Config, Fact, Settings};
use retold::fetch::FetchLimits;
use retold::run::{RunRecord, rng_for, shuffle};
use retold_study::config::{ConfigError, ConfigFile, ModelKind};
use retold_study::error::BoxError;
use retold_study::settings::ExperimentSettings;
use retold_study::study::{SettingsOf, StoreResult, Study};

/// The limits of a collection that is fetched. Persona-hub's file with 200,000 personas has about 40 MB.
const LIMITS: FetchLimits = FetchLimits { longest: 256 << 20, timeout: Duration::from_secs(300) };

/// The personas that a run takes from the pool and adds to it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FromPool {
    /// For each participant, in order: the persona drawn from the pool, or `None` if the run
    /// enriches one.
    pub drawn: Vec<Option<EnrichedPersona>>,
    /// Base personas that the run enriches only for the pool.
    pub spare: Vec<String>,
}

/// How many personas the pool needs for a number of participants.
pub fn pool_size(participants: usize) -> usize {
    participants + participants.div_ceil(2)
}

/// The base personas that a config names; `personas_file` is where its file is.
pub(in super::super) fn collection(
    personas_file: Option<&Path>,
    config: &Config,
) -> Result<Collection, PersonaError> {
    match (&config.personas_url, personas_file) {
        (Some(url), _) => Collection::url(&url.parse()?, LIMITS).map(Collection::warn),
        (None, Some(file)) => Collection::file(file),
        (None, None) => Ok(Collection::built_in()),
    }
}

/// The config key for the source of base personas, or for how many are needed.
pub(in super::super) fn source_key(config: &Config) -> &'static str {
    match (&config.personas_url, &config.personas_file) {
        (Some(_), _) => "personas_url",
        (None, Some(_)) => "personas_file",
        (None, None) => "participants_per_condition",
    }
}

/// Puts what comes from the pool or a URL into a study's settings. After this, nothing else is
/// needed to run it.
///
/// # Errors
/// [`ConfigError`] if the pool cannot be read, or there are too few base personas.
pub(crate) fn draw(file: &ConfigFile<'_>, study: &mut Study) -> Result<(), ConfigError> {
    let settings = study.settings.experiment.read::<Settings>();
    let settings = settings.map_err(|e| file.wrong("settings", e.to_string()))?;
    let config = &settings.config;
    let (needed, seed) = (config.participants(), study.seed);
    let drawn = if config.use_persona_storage {
        // Personas that are added to the pool are written there.
        config.persona_storage.as_deref().map(|named| file.place_of(named)).transpose()?;
        let pool = Pool::read(&config.pool());
        let pool = pool.map_err(|e| file.wrong("persona_storage", e.to_string()))?;
        let simulated = study.settings.runtime.model.kind == ModelKind::Simulated;
        let candidates = candidates(pool.personas, simulated);
        let lacking = pool_size(needed).saturating_sub(candidates.len());
        let new = match lacking {
            0 => Vec::new(),
            _ => {
                let known = candidates.iter().map(|p| p.base_persona.clone()).collect();
                let personas_file = config.personas_file.as_deref();
                let personas_file = personas_file.map(|named| file.place_of(named)).transpose()?;
                let drawn = collection(personas_file.as_deref(), config)
                    .and_then(|collection| collection.draw_besides(lacking, seed, &known));
                drawn.map_err(|e| {
                    let have = candidates.len();
                    let message = format!(
                        "{e}; the pool has {have} and gets half as many again as the {needed} \
                         who take part: use_persona_storage: false does without it"
                    );
                    file.wrong(source_key(config), message)
                })?
            }
        };
        let (personas, pool) = select(candidates, new, needed, seed);
        Settings { personas, pool: Some(pool), ..settings.into_owned() }
    } else if config.personas_url.is_some() {
        let drawn = collection(None, config);
        let drawn = drawn.and_then(|collection| collection.draw(needed, seed));
        let personas = drawn.map_err(|e| file.wrong("personas_url", e.to_string()))?;
        Settings { personas, ..settings.into_owned() }
    } else {
        return Ok(());
    };
    study.settings.experiment = ExperimentSettings::new(drawn);
    Ok(())
}

/// Copies the personas that a run drew from the pool or from a URL into the settings of the same
/// config.
pub(crate) fn take_over(settings: &mut Value, recorded: &Value) {
    if recorded["pool"].is_null() && recorded["config"]["personas_url"].is_null() {
        return;
    }
    for key in ["personas", "pool"] {
        if let (Some(settings), Some(drawn)) = (settings.as_object_mut(), recorded.get(key)) {
            settings.insert(key.to_owned(), drawn.clone());
        }
    }
}

/// The personas in a pool that a run may draw, without duplicates: real ones, and for simulated
/// runs also made-up ones.
fn candidates(pool: Vec<EnrichedPersona>, simulated: bool) -> Vec<EnrichedPersona> {
    let (made_up, mut candidates): (Vec<_>, Vec<_>) = pool.into_iter().partition(|p| p.simulated);
    if simulated {
        let real: BTreeSet<String> = candidates.iter().map(|p| p.base_persona.clone()).collect();
        candidates.extend(made_up.into_iter().filter(|p| !real.contains(&p.base_persona)));
    }
    candidates
}

/// Somebody who may be drawn.
enum Person {
    /// From the pool.
    Known(EnrichedPersona),
    /// New to it: a base persona.
    New(String),
}

impl Person {
    /// The base persona of somebody new.
    fn base(self) -> Option<String> {
        match self {
            Person::Known(_) => None,
            Person::New(base) => Some(base),
        }
    }
}

/// Draws the participants from the pool and the new personas together.
fn select(
    candidates: Vec<EnrichedPersona>,
    new: Vec<String>,
    needed: usize,
    seed: u64,
) -> (Vec<String>, FromPool) {
    let mut all: Vec<Person> =
        candidates.into_iter().map(Person::Known).chain(new.into_iter().map(Person::New)).collect();
    shuffle(&mut all, &mut rng_for(seed, "persona_pool"));
    let rest = all.split_off(needed.min(all.len()));
    let (mut personas, mut pool) = (Vec::with_capacity(all.len()), FromPool::default());
    for one in all {
        match one {
            Person::Known(enriched) => {
                personas.push(enriched.base_persona.clone());
                pool.drawn.push(Some(enriched));
            }
            Person::New(base) => {
                personas.push(base);
                pool.drawn.push(None);
            }
        }
    }
    pool.spare = rest.into_iter().filter_map(Person::base).collect();
    (personas, pool)
}

/// Adds the personas that a run has enriched to its pool; nothing if it does not use one or none is
/// new. A pool that only the run's recorded settings name is not changed, because it could be any
/// file.
///
/// # Errors
/// What cannot be read or written.
/// What cannot be read or written.
pub(crate) fn store(
    record: &RunRecord<'_>,
    settings_of: SettingsOf,
) -> Result<StoreResult, BoxError> {
    let config = Settings::deserialize(&record.started.settings["experiment"])?.config;
    let simulated = record.started.is_simulated();
    let made = enriched_personas(record, simulated)?;
    if made.is_empty() {
        return Ok(StoreResult::Nothing);
    }
    let path = config.pool();
    if settings_of == SettingsOf::Run && path != Path::new(pool::DEFAULT) {
        return Ok(StoreResult::NotNamed { what: "personas", path });
    }
    let added = pool::add(&path, &made)?.added;
    let what = if added == 1 { "persona" } else { "personas" };
    match added {
        0 => Ok(StoreResult::Nothing),
        added => Ok(StoreResult::Added { added, what, path }),
    }
}

/// The personas that a run has enriched.
fn enriched_personas(
    record: &RunRecord<'_>,
    simulated: bool,
) -> Result<Vec<EnrichedPersona>, serde_json::Error> {
    let (mut bases, mut made) = (BTreeMap::new(), Vec::new());
    for fact in &record.facts {
        match Fact::deserialize(fact)? {
            Fact::Enrolled { participant_id, base_persona, .. } => {
                bases.insert(participant_id, base_persona);
            }
            Fact::PersonaEnriched { participant_id, demographics, enriched_persona } => {
                if let Some(base_persona) = bases.remove(&participant_id) {
                    made.push(EnrichedPersona {
                        base_persona,
                        demographics,
                        enriched_persona,
                        simulated,
                    });
                }
            }
            Fact::SparePersonaMade { base_persona, demographics, enriched_persona } => {
                made.push(EnrichedPersona {
                    base_persona,
                    demographics,
                    enriched_persona,
                    simulated,
                });
            }
            _ => {}
        }
    }
    Ok(made)
}

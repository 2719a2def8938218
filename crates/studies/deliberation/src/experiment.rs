//! The experiment itself: the phases in order.

use std::sync::Arc;

use super::check::check_counts;
use super::conditions::assign;
use super::config::Config;
use super::facts::Fact;
use super::grouping::USUAL_SEED;
use super::opposition::{self, Method};
use super::origins::FactOrigins;
use super::personas::{FromPool, pool::EnrichedPersona};
use super::prompts::DeliberationPrompts;
use super::settings::Settings;
use super::state::{DeliberationState, participant_id};
use super::taken_over::FromOriginal;
use super::{derived, summary};
use crate::parse as demographics;
use retold::parse::text::{free_text, moderator, vector};
use retold::parse::vote;
use retold::prompt::CanonicalError;
use retold::run::{Experiment, OutputError, OutputFile, Report, Run, RunRecord, Stop};
use retold_study::error::StudyError;
use retold_study::shard::{Shard, is_in};

/// Votes before and after reading other views, in four conditions.
pub struct Deliberation {
    pub(super) config: Config,
    pub(super) personas: Vec<String>,
    pub(super) original: Option<FromOriginal>,
    pub(super) pool: FromPool,
    pub(super) prompts: DeliberationPrompts,
    pub(super) opposition: &'static dyn Method,
    pub(super) parsers: DeliberationParsers,
    shard: Option<Shard>,
}

/// Every parser of the experiment.
pub(super) struct DeliberationParsers {
    pub(super) vote: Arc<vote::VoteParser>,
    pub(super) demographics: Arc<demographics::DemographicsParser>,
    pub(super) text: Arc<free_text::FreeTextParser>,
    pub(super) moderator: Arc<moderator::ModeratorParser>,
    pub(super) vector: Arc<vector::VectorParser>,
}

impl DeliberationParsers {
    fn new(options: &[String]) -> Result<Self, CanonicalError> {
        Ok(DeliberationParsers {
            vote: Arc::new(vote::parser(vote::VoteParams { options: options.to_vec() })?),
            demographics: Arc::new(demographics::parser()?),
            text: Arc::new(free_text::parser()?),
            moderator: Arc::new(moderator::parser()?),
            vector: Arc::new(vector::parser()?),
        })
    }
}

impl Deliberation {
    /// The experiment with the given settings.
    ///
    /// # Errors
    /// The setting with which it cannot be run.
    pub fn new(settings: Settings) -> Result<Self, StudyError> {
        let Settings { config, prompts, personas, pool, original, shard } = settings;
        check_counts(&config)?;
        let needed = config.participants();
        if personas.len() < needed {
            let message = format!("{needed} participants and {} personas", personas.len());
            return Err(StudyError::part("participants_per_condition", message));
        }
        if let Some(n) = original.as_ref().map(|o| o.participants.len()).filter(|n| *n != needed) {
            let message = format!("{needed} participants and {n} in the original run");
            return Err(StudyError::part("participants_per_condition", message));
        }
        let method = &config.opposition_method;
        let opposition = opposition::method(method).ok_or_else(|| {
            StudyError::part(
                "opposition_method",
                format!("there is no opposition method {method:?}"),
            )
        })?;
        let parsers = DeliberationParsers::new(&config.topic.options);
        Ok(Deliberation {
            opposition,
            parsers: parsers.map_err(|e| StudyError::part("topic.options", e))?,
            prompts: DeliberationPrompts::new(&prompts)?,
            personas,
            original,
            // Runs without a pool draw nothing from it.
            pool: pool.unwrap_or_default(),
            config,
            shard,
        })
    }

    /// Enrols the participants, with their personas and conditions. Those of all are drawn, so that a shard has the same.
    fn enrol(&self, run: &mut Run<Self>, origins: &FactOrigins) -> Result<(), Stop> {
        let per_condition = self.config.participants_per_condition as usize;
        let conditions = match &self.original {
            Some(original) => original.participants.iter().map(|p| p.condition).collect(),
            None => assign(per_condition, &mut run.rng("conditions")),
        };
        let drawn = self.pool.drawn.iter().map(Option::as_ref).chain(std::iter::repeat(None));
        let people = conditions.into_iter().zip(&self.personas).zip(drawn);
        for (number, ((condition, persona), drawn)) in (1..).zip(people) {
            if !is_in(self.shard, number - 1) {
                continue;
            }
            let participant_id = participant_id(number);
            let base_persona = persona.clone();
            let id = participant_id.clone();
            let enrolled = Fact::Enrolled { participant_id: id, condition, base_persona };
            origins.record(run, enrolled, &[])?;
            if let Some(EnrichedPersona { demographics, enriched_persona, .. }) = drawn.cloned() {
                let drawn = Fact::PersonaDrawn { participant_id, demographics, enriched_persona };
                origins.record(run, drawn, &[])?;
            }
        }
        Ok(())
    }

    /// Records that a phase begins.
    fn begin(&self, run: &mut Run<Self>, phase: u8) -> Result<(), Stop> {
        run.record(Fact::PhaseBegan { phase }, &[])
    }

    /// The seed of K-means. In the original's program it is constant; in the document, the config's
    /// seed is used for all random choices.
    pub(super) fn cluster_seed(&self) -> u64 {
        match &self.original {
            None => self.config.random_seed.unwrap_or(USUAL_SEED),
            Some(_) => USUAL_SEED,
        }
    }

    /// True if participants fail when the input that a phase shows them is missing. In the
    /// original's program, they are shown an empty text.
    pub(super) fn needs_input(&self) -> bool {
        self.original.is_none()
    }

    /// Phases 4 to 7.
    async fn cross_pollinate_and_challenge(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
    ) -> Result<(), Stop> {
        self.begin(run, 4)?;
        self.summarise(run, origins).await?;
        run.mark("phase_4")?;
        self.begin(run, 5)?;
        self.choose_opposition(run, origins).await?;
        run.mark("phase_5")?;
        self.begin(run, 6)?;
        self.cross_pollinate(run, origins).await?;
        run.mark("phase_6")?;
        self.begin(run, 7)?;
        self.challenge(run, origins).await?;
        run.mark("phase_7")
    }
}

impl Experiment for Deliberation {
    type Event = Fact;
    type State = DeliberationState;

    fn apply(state: &mut DeliberationState, fact: &Fact) {
        state.apply(fact);
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let origins = &FactOrigins::default();
        self.enrol(run, origins)?;
        match &self.original {
            Some(original) => self.take_personas(run, origins, original)?,
            None => self.enrich_personas(run, origins).await?,
        }
        run.mark("phase_0")?;
        self.begin(run, 1)?;
        self.initial_votes(run, origins).await?;
        if let Some(original) = &self.original {
            self.take_explanations(run, original)?;
        }
        run.mark("phase_1")?;
        // It takes the votes of all participants to end here, so a shard goes on.
        if self.shard.is_none() {
            self.begin(run, 2)?;
            self.check_threshold(run)?;
            run.mark("phase_2")?;
            if run.state().termination_reason.is_some() {
                return Ok(());
            }
        }
        self.begin(run, 3)?;
        self.clarify(run, origins).await?;
        run.mark("phase_3")?;
        if self.shard.is_some() {
            // From here on, what participants read depends on those of the other shards: the merged run goes on.
            return Ok(());
        }
        match self.original.as_ref().filter(|original| !original.has_summaries) {
            Some(original) => self.take_the_rest(run, original)?,
            None => self.cross_pollinate_and_challenge(run, origins).await?,
        }
        // Phase 8 collects the votes of phases 6 and 7; phase 9, saving, is done from the log.
        self.begin(run, 8)?;
        run.record(Fact::PhaseCompleted { phase: 8 }, &[])?;
        self.begin(run, 9)?;
        run.record(Fact::PhaseCompleted { phase: 9 }, &[])
    }

    fn report(&self, state: &DeliberationState) -> Report {
        summary::report(&self.config.pilot_id, state)
    }

    fn outputs(
        &self,
        state: &DeliberationState,
        record: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        self.output_files(state, record)
    }

    fn output_name(&self) -> Option<String> {
        Some(self.config.pilot_id.clone())
    }

    fn story(
        &self,
        state: &DeliberationState,
        part: &str,
        record: &mut RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError> {
        self.story_of(state, part, record)
    }

    fn derived_names(&self, state: &DeliberationState) -> Vec<String> {
        derived::names(state)
    }

    fn derivation(
        &self,
        name: &str,
        record: &RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError> {
        derived::report(self, name, record)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use retold_study::{Registration, Studies};

    #[test]
    fn the_configs_seed_seeds_clustering() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let config = root.join("config/deliberation_small.yaml");
        let studies = Studies::new([&crate::DeliberationStudy as &dyn Registration]).unwrap();
        let seed = |overrides: &[&str], change: &dyn Fn(&mut Settings)| {
            let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
            let study = studies.study(&config, None, &overrides, 0, false).unwrap();
            let mut settings = study.settings.experiment.read::<Settings>().unwrap().into_owned();
            change(&mut settings);
            Deliberation::new(settings).unwrap().cluster_seed()
        };
        assert_eq!(seed(&["random_seed=7"], &|_| {}), 7);
        assert_eq!(seed(&[], &|settings| settings.config.random_seed = None), USUAL_SEED);
    }
}

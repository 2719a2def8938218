//! The experiment itself: games consisting of rounds, which consist of stages.

use std::sync::Arc;

use super::check::{check, check_counts};
use super::config::Config;
use super::facts::{Fact, PlayerTurn};
use super::origins::PlayerOrigins;
use super::rules::GameRules;
use super::settings::Settings;
use super::state::{Game, PlayedGames};
use super::story::story;
use super::{avatars, outputs, prompts, report};
use crate::parse::{
    ChatParams, ChatParser, ContributionParams, ContributionParser, RedistributionParams,
    chat_parser, contribution_parser, redistribution_parser,
};
use retold::parse::MakeError;
use retold::parse::text::vector;
use retold::run::{Experiment, OutputError, OutputFile, Report, Run, RunRecord, Stop};
use retold_study::error::StudyError;
use retold_study::shard::{Shard, is_in};
use retold_study::template::Templates;

/// Public goods games.
pub struct PublicGoods {
    pub(super) config: Config,
    pub(super) rules: GameRules,
    pub(super) prompts: Templates,
    pub(super) parsers: PublicGoodsParsers,
    shard: Option<Shard>,
}

/// Every parser of the experiment.
pub(super) struct PublicGoodsParsers {
    pub(super) chat: Arc<ChatParser>,
    pub(super) contribution: Arc<ContributionParser>,
    pub(super) vector: Arc<vector::VectorParser>,
}

impl PublicGoodsParsers {
    fn new(config: &Config) -> Result<Self, MakeError> {
        let version = config.parser_version;
        let contribution = ContributionParams {
            endowment: config.endowment,
            contribution_type: config.contribution_type,
        };
        let chat = ChatParams { max_chars: config.max_message_chars };
        // A version that does not exist is refused before anybody is asked.
        redistribution_parser(version, RedistributionParams::default())?;
        Ok(PublicGoodsParsers {
            chat: Arc::new(chat_parser(version, chat)?),
            contribution: Arc::new(contribution_parser(version, contribution)?),
            vector: Arc::new(vector::parser()?),
        })
    }
}

impl PublicGoods {
    /// The experiment with the given settings.
    ///
    /// # Errors
    /// The setting with which it cannot be run.
    pub fn new(settings: Settings) -> Result<Self, StudyError> {
        let Settings { config, prompts: templates, shard } = settings;
        check_counts(&config)?;
        let parsers = PublicGoodsParsers::new(&config);
        Ok(PublicGoods {
            rules: GameRules::new(&config),
            prompts: Templates::all_of(prompts::NAMES, &templates)?,
            parsers: parsers.map_err(|e| StudyError::part("parser_version", e))?,
            config,
            shard,
        })
    }

    /// Checks settings for a new run: every value, and every prompt, by trying it.
    ///
    /// # Errors
    /// The first invalid value.
    pub(super) fn check(settings: Settings) -> Result<(), StudyError> {
        check(&settings.config)?;
        Ok(PublicGoods::new(settings)?.try_out()?)
    }

    /// Whether it has a game: all of them, unless it is a shard.
    fn has(&self, game: u32) -> bool {
        is_in(self.shard, game as usize - 1)
    }

    /// Seats the players of each game, with their avatars. Those of all games are drawn, so that a shard has the same.
    fn seat(&self, run: &mut Run<Self>, origins: &mut PlayerOrigins) -> Result<(), Stop> {
        let mut rng = run.rng("avatars");
        for game in 1..=self.config.games {
            let avatars = match self.config.avatars_of(game) {
                Some(avatars) => avatars.to_vec(),
                None => avatars::draw(self.config.group_size, &mut rng),
            };
            for (agent, avatar) in (0..).zip(avatars).filter(|_| self.has(game)) {
                let llm_model = self.config.model_of(agent).to_owned();
                let seated = Fact::Seated { game, agent, avatar, llm_model };
                origins.record(run, seated, &[])?;
            }
        }
        Ok(())
    }

    /// The turns of all players who are still in a game. A game with only one player left is over.
    pub(super) fn turns(&self, state: &PlayedGames, round: u32) -> Vec<PlayerTurn> {
        let going = state.games.iter().filter(|game| game.active().count() > 1);
        let turns = going.flat_map(|game: &Game| {
            game.active().map(move |seat| PlayerTurn {
                game: game.number,
                round,
                agent: seat.agent,
            })
        });
        turns.collect()
    }

    /// The number of questions if nobody fails.
    fn question_count(&self) -> u64 {
        let Config { group_size, game_length, .. } = self.config;
        let games = (1..=self.config.games).filter(|game| self.has(*game)).count() as u64;
        let stages = [
            true,
            self.config.communication_enabled,
            self.config.decision_apart,
            !self.rules.incentives.is_empty(),
            self.config.reasoning.embedding_model.is_some(),
        ];
        let stages = stages.into_iter().map(u64::from).sum::<u64>();
        games * u64::from(group_size) * u64::from(game_length) * stages
    }
}

impl Experiment for PublicGoods {
    type Event = Fact;
    type State = PlayedGames;

    fn apply(state: &mut PlayedGames, fact: &Fact) {
        state.apply(fact);
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        run.expect(self.question_count());
        let mut origins = PlayerOrigins::default();
        self.seat(run, &mut origins)?;
        for round in 1..=self.config.game_length {
            if self.config.communication_enabled {
                self.chat(run, &mut origins, round).await?;
            }
            self.contribute(run, &mut origins, round).await?;
            if !self.rules.incentives.is_empty() {
                self.redistribute(run, &mut origins, round).await?;
            }
            self.settle(run, &mut origins, round)?;
            run.mark_step("round", round, self.config.game_length)?;
        }
        self.group_by_reasoning(run, &origins).await
    }

    fn report(&self, state: &PlayedGames) -> Report {
        report::report(&self.config, state)
    }

    fn outputs(
        &self,
        state: &PlayedGames,
        record: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        outputs::files(&self.config, &self.rules, state, record)
    }

    fn output_name(&self) -> Option<String> {
        Some(self.config.experiment_id.clone())
    }

    fn story(
        &self,
        state: &PlayedGames,
        part: &str,
        record: &mut RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError> {
        story(state, part, &|game, agent, round| self.history_text(game, agent, round), record)
    }
}

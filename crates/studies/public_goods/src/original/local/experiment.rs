//! The experiment: every prompt is asked again, every answer is parsed again, and every round is
//! settled again.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::settings::{LocalSettings, RecordedPrompt};
use super::table;
use crate::parse::{
    ActionsParser, ContributionParams, JsonContributionParser, actions_parser,
    json_contribution_parser,
};
use crate::rules::{GameRules, Units};
use crate::{
    DecidingAnswer, Fact, PlayedGames, Round, Stage, check_counts, output_files, report,
    settlement_facts, story,
};
use retold::parse::Parser;
use retold::run::{
    Answer, CallFailed, Experiment, OutputError, OutputFile, Question, Report, Run, RunRecord, Stop,
};
use retold_study::at_once::at_once;
use retold_study::error::StudyError;

/// Public goods games played by another program.
pub struct OriginalGames {
    settings: LocalSettings,
    rules: GameRules,
    contribution: Arc<JsonContributionParser>,
    actions: Arc<ActionsParser>,
}

impl OriginalGames {
    /// The experiment with the given settings.
    ///
    /// # Errors
    /// The setting with which it cannot be run.
    pub fn new(settings: LocalSettings) -> Result<Self, StudyError> {
        let config = &settings.config;
        check_counts(config)?;
        let params = ContributionParams {
            endowment: config.endowment,
            contribution_type: config.contribution_type,
        };
        let unmade = |e| StudyError::part("config", e);
        Ok(OriginalGames {
            rules: GameRules { multiplier: settings.multiplier, ..GameRules::new(config) },
            contribution: Arc::new(json_contribution_parser(params).map_err(unmade)?),
            actions: Arc::new(actions_parser().map_err(unmade)?),
            settings,
        })
    }

    /// Asks all prompts of a stage in a round.
    async fn ask<P: Parser>(
        &self,
        run: &mut Run<Self>,
        round: u32,
        stage: Stage,
        parser: &Arc<P>,
    ) -> Result<Vec<(&RecordedPrompt, Result<Answer<P::Value>, CallFailed>)>, Stop> {
        let prompts = self.settings.asked.iter();
        let prompts: Vec<&RecordedPrompt> =
            prompts.filter(|a| a.turn.round == round && a.stage == stage).collect();
        let questions = prompts.iter().map(|asked| {
            Ok(stage.question(asked.turn, self.settings.request(asked)?, parser.clone())?)
        });
        let answers = run.ask_all(at_once(questions, Question::request)?).await?;
        Ok(prompts.into_iter().zip(answers).collect())
    }

    fn seat(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        for (game, seats) in (1..).zip(&self.settings.games) {
            for (agent, who) in (0..).zip(&seats.players) {
                let (avatar, llm_model) =
                    (who.avatar.clone(), self.settings.config.llm_model.clone());
                run.record(Fact::Seated { game, agent, avatar, llm_model }, &[])?;
            }
        }
        Ok(())
    }

    async fn contribute(&self, run: &mut Run<Self>, round: u32) -> Result<(), Stop> {
        for (asked, answer) in self.ask(run, round, Stage::Contribution, &self.contribution).await?
        {
            match answer {
                Ok(answer) => {
                    let fact = match answer.value {
                        Some(stated) => {
                            let (turn, by) = (asked.turn, by(answer.method));
                            let (contribution, reasoning) = (stated, None);
                            Fact::Contributed { turn, stated, contribution, by, reasoning }
                        }
                        None => illegible(asked),
                    };
                    run.record(fact, &[answer.decision])?;
                }
                Err(failed) => run.record(player_failure(asked, failed), &[])?,
            }
        }
        Ok(())
    }

    async fn redistribute(&self, run: &mut Run<Self>, round: u32) -> Result<(), Stop> {
        for (asked, answer) in self.ask(run, round, Stage::Redistribution, &self.actions).await? {
            let turn = asked.turn;
            match answer {
                Ok(answer) => {
                    let units = units(run.state(), asked, &answer.value);
                    let by = by(answer.method);
                    let fact = Fact::Redistributed { turn, units, was_scaled: false, by };
                    run.record(fact, &[answer.decision])?;
                }
                Err(failed) => run.record(player_failure(asked, failed), &[])?,
            }
        }
        Ok(())
    }
}

impl Experiment for OriginalGames {
    type Event = Fact;
    type State = PlayedGames;

    fn apply(state: &mut PlayedGames, fact: &Fact) {
        state.apply(fact);
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        run.expect(self.settings.asked.len() as u64);
        self.seat(run)?;
        for round in 1..=self.settings.config.game_length {
            self.contribute(run, round).await?;
            self.redistribute(run, round).await?;
            let facts = settlement_facts(&self.rules, run.state(), round);
            facts.into_iter().try_for_each(|fact| run.record(fact, &[]))?;
            run.mark_step("round", round, self.settings.config.game_length)?;
        }
        Ok(())
    }

    fn report(&self, state: &PlayedGames) -> Report {
        report(&self.settings.config, state)
    }

    fn outputs(
        &self,
        state: &PlayedGames,
        record: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        let mut files = output_files(&self.settings.config, &self.rules, state, record)?;
        let table = table::participants(&self.settings, &self.rules, state, record)?;
        files.push(OutputFile::from(table));
        Ok(files)
    }

    fn story(
        &self,
        state: &PlayedGames,
        part: &str,
        record: &mut RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError> {
        story(state, part, &|_, _, _| None, record)
    }
}

fn by(method: &str) -> DecidingAnswer {
    DecidingAnswer { method: method.to_owned(), sample: 0 }
}

/// An illegible answer is not a contribution: the player does not take part in the round.
fn illegible(asked: &RecordedPrompt) -> Fact {
    let call = Stage::Contribution.call(asked.turn);
    let reason = "the answer holds no legible contribution".to_owned();
    Fact::PlayerFailed { turn: asked.turn, call, sample: 0, reason }
}

fn player_failure(asked: &RecordedPrompt, failed: CallFailed) -> Fact {
    let CallFailed { call, sample, failure } = failed;
    let (call, reason) = (call.to_string(), failure.to_string());
    Fact::PlayerFailed { turn: asked.turn, call, sample, reason }
}

/// The units for each other player of the round. Units for anyone else, or for oneself, are
/// dropped.
fn units(state: &PlayedGames, asked: &RecordedPrompt, named: &BTreeMap<String, i64>) -> Vec<Units> {
    let actor = asked.turn.agent;
    let Some(game) = state.game(asked.turn.game) else { return Vec::new() };
    let coins = game.round(asked.turn.round).map_or_else(Vec::new, Round::coins);
    let targets = coins.into_iter().map(|(agent, _)| agent).filter(|agent| *agent != actor);
    let units = targets.map(|target| {
        let decided = named.get(game.avatar(target)).copied().unwrap_or(0);
        Units { actor, target, decided, actual: decided }
    });
    units.collect()
}

//! The experiment itself: the turns in order.

use std::sync::Arc;

use super::ask::{GameQuestion, ask_until_usable};
use super::config::{Config, Settings};
use super::facts::{Fact, GameEnding};
use super::origins::GameOrigins;
use super::policy::Policy;
use super::state::{AdventureGame, Games};
use super::{check, outputs, prompts, report, turn};
use crate::parse::{
    Character, CharacterParser, NarrativeParser, character_parser, narrative_parser,
};
use retold::id::CallPath;
use retold::parse::Parser;
use retold::prompt::Request;
use retold::run::{
    DecisionRef, Experiment, OutputError, OutputFile, Report, Run, RunRecord, Source, Stop,
};
use retold_study::at_once::at_once;
use retold_study::error::StudyError;
use retold_study::shard::{Shard, is_in};
use retold_study::template::Templates;

/// A game master tells a story, and a player chooses how it continues.
pub struct Adventure {
    pub(super) config: Config,
    pub(super) prompts: Templates,
    shard: Option<Shard>,
    narrative: Arc<NarrativeParser>,
    character: Arc<CharacterParser>,
}

impl Adventure {
    /// The experiment with the given settings.
    ///
    /// # Errors
    /// The setting with which it cannot be run.
    pub fn new(settings: Settings) -> Result<Self, StudyError> {
        let Settings { config, prompts: templates, shard } = settings;
        check::check(&config)?;
        let unmade = |e| StudyError::part("config", e);
        let adventure = Adventure {
            prompts: Templates::all_of(prompts::NAMES, &templates)?,
            narrative: Arc::new(narrative_parser().map_err(unmade)?),
            character: Arc::new(character_parser().map_err(unmade)?),
            config,
            shard,
        };
        // A template with an unknown variable is refused before anything is recorded.
        adventure.try_out()?;
        Ok(adventure)
    }

    pub(super) fn query<P: Parser>(
        &self,
        (game, turn): (u32, Option<u32>),
        who: &str,
        request: Request,
        parser: &Arc<P>,
        because: Vec<Source>,
    ) -> Result<GameQuestion<P>, Stop> {
        let call = match turn {
            Some(turn) => format!("game/{game}/{turn}/{who}"),
            None => format!("game/{game}/{who}"),
        };
        let (call, parser) = (CallPath::new(call)?, parser.clone());
        Ok(GameQuestion { game, turn, call, request, parser, because })
    }

    /// The character that the parser makes up if an answer has none.
    pub(super) fn nobody(&self) -> Character {
        self.character.parse("").value
    }

    /// The numbers of its games.
    fn games(&self) -> impl Iterator<Item = u32> {
        (1..=self.config.games).filter(|game| is_in(self.shard, *game as usize - 1))
    }

    /// Creates the hero of every game, and begins it.
    async fn begin(&self, run: &mut Run<Self>, origins: &mut GameOrigins) -> Result<(), Stop> {
        let request = self.character_request(&self.config.hero)?;
        let heroes = self.games().map(|game| {
            self.query((game, None), "hero", request.clone(), &self.character, Vec::new())
        });
        let heroes = at_once(heroes, |query| &query.request)?;
        for tried in self.characters(run, heroes).await? {
            let (game, hero, causes) = tried;
            let Config { location, inventory, .. } = &self.config;
            let (location, inventory) = (location.clone(), inventory.clone());
            let began = Fact::Began { game, hero, location, inventory };
            origins.began(game, &run.record_ref(began, &causes)?);
        }
        Ok(())
    }

    /// Asks for characters. If an answer is not usable, the parser's default is used: an average
    /// stranger.
    async fn characters(
        &self,
        run: &mut Run<Self>,
        queries: Vec<GameQuestion<CharacterParser>>,
    ) -> Result<Vec<(u32, Character, Vec<DecisionRef>)>, Stop> {
        let nobody = self.nobody();
        let retries = Some(self.config.max_parse_retries);
        let tried =
            ask_until_usable(run, queries, retries, |character| *character != nobody).await?;
        let made = tried.into_iter().map(|(game, tried)| match tried.answer {
            Ok(answer) => (game, answer.value, vec![answer.decision]),
            Err(_) => (game, nobody.clone(), Vec::new()),
        });
        Ok(made.collect())
    }

    /// Asks the game masters what happens in a turn.
    async fn tell(
        &self,
        run: &mut Run<Self>,
        origins: &mut GameOrigins,
        turn: u32,
    ) -> Result<(), Stop> {
        let last = turn == self.config.turns;
        let queries = open_games(run.state()).map(|(number, game)| {
            let request = self.master_request(game, turn)?;
            let because = origins.story(number);
            self.query((number, Some(turn)), "master", request, &self.narrative, because)
        });
        let queries = at_once(queries, |query| &query.request)?;
        let retries = Some(self.config.max_parse_retries);
        let usable = |narrative: &_| turn::usable(narrative, last);
        for (game, tried) in ask_until_usable(run, queries, retries, usable).await? {
            match tried.answer {
                Err(failed) => {
                    let ending = GameEnding::Failed { reason: failed.to_string() };
                    run.record(Fact::Ended { game, turn: turn - 1, ending }, &[])?;
                }
                Ok(answer) => {
                    let Some(state) = run.state().games.get(&game) else { continue };
                    let actions = &self.config.default_actions;
                    let mut told = turn::narration(state, game, turn, &answer.value, last, actions);
                    told.unusable = tried.refused;
                    let elsewhere = told.location.is_some();
                    let causes = [answer.decision];
                    let fact = run.record_ref(Fact::Told(told), &causes)?;
                    origins.add_narration(game, &causes[0], &fact, elsewhere);
                }
            }
        }
        Ok(())
    }

    /// Creates opponents who are met for the first time.
    async fn meet(
        &self,
        run: &mut Run<Self>,
        origins: &mut GameOrigins,
        turn: u32,
    ) -> Result<(), Stop> {
        let mut queries = Vec::new();
        let mut names = Vec::new();
        for (number, game) in open_games(run.state()) {
            let unknown = |name: &&String| !game.characters.contains_key(*name);
            let Some(name) = game.opponent.as_ref().filter(unknown) else { continue };
            let who = format!("{name}, whom {} fights. Place: {}", game.name(), game.location);
            let request = self.character_request(&who)?;
            let (of, because) = ((number, Some(turn)), origins.opponent(number));
            queries.push(self.query(of, "opponent", request, &self.character, because)?);
            names.push(name.clone());
        }
        for (name, made) in names.into_iter().zip(self.characters(run, queries).await?) {
            let (game, character, causes) = made;
            // The story continues with the game master's name for them.
            let character = Character { name, ..character };
            let met = Fact::Met { game, turn, character };
            origins.add(game, &run.record_ref(met, &causes)?);
        }
        Ok(())
    }
}

/// The games that continue, by number.
pub(super) fn open_games(state: &Games) -> impl Iterator<Item = (u32, &AdventureGame)> {
    let open = state.games.iter().filter(|(_, game)| game.ending.is_none());
    open.map(|(number, game)| (*number, game))
}

impl Experiment for Adventure {
    type Event = Fact;
    type State = Games;

    fn apply(state: &mut Games, fact: &Fact) {
        state.apply(fact);
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let Config { turns, player, .. } = &self.config;
        let choices = match player {
            Policy::Model | Policy::Human => turns - 1,
            Policy::First | Policy::Random => 0,
        };
        run.expect(self.games().count() as u64 * u64::from(1 + turns + choices));
        let mut origins = GameOrigins::default();
        self.begin(run, &mut origins).await?;
        for turn in 1..=*turns {
            self.tell(run, &mut origins, turn).await?;
            self.meet(run, &mut origins, turn).await?;
            if turn < *turns {
                self.choose(run, &mut origins, turn).await?;
            }
            run.mark_step("turn", turn, *turns)?;
        }
        let told: Vec<u32> = open_games(run.state()).map(|(number, _)| number).collect();
        for game in told {
            run.record(Fact::Ended { game, turn: *turns, ending: GameEnding::Told }, &[])?;
        }
        Ok(())
    }

    fn report(&self, state: &Games) -> Report {
        report::report(state)
    }

    fn outputs(
        &self,
        state: &Games,
        _record: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        outputs::outputs(state)
    }

    fn story(
        &self,
        state: &Games,
        part: &str,
        _record: &mut RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError> {
        Ok(report::story(state, part))
    }
}

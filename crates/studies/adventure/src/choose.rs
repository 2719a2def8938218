//! How a player chooses.

use std::sync::Arc;

use rand_chacha::rand_core::Rng;

use super::ask::ask_until_usable;
use super::experiment::{Adventure, open_games};
use super::facts::{ChoiceMaker, Fact};
use super::origins::GameOrigins;
use super::policy::Policy;
use super::state::AdventureGame;
use retold::parse::vote;
use retold::run::{DecisionRef, RetriedAnswer, Run, Stop};

impl Adventure {
    /// Lets the players choose.
    pub(super) async fn choose(
        &self,
        run: &mut Run<Self>,
        origins: &mut GameOrigins,
        turn: u32,
    ) -> Result<(), Stop> {
        let player = self.config.player;
        let mut asked = Vec::new();
        for (number, game) in open_games(run.state()) {
            let ask = matches!(player, Policy::Model | Policy::Human);
            if !ask || self.forced_choice(number, turn).is_some() {
                continue;
            }
            let options = game.options().iter().map(|o| o.text.clone()).collect();
            let parser = Arc::new(vote::parser(vote::VoteParams { options })?);
            let request = self.player_request(game, turn, player)?;
            let because = origins.story(number);
            asked.push(self.query((number, Some(turn)), "player", request, &parser, because)?);
        }
        // A person is asked until there is an answer.
        let retries = Some(self.config.max_parse_retries).filter(|_| player != Policy::Human);
        let answers = ask_until_usable(run, asked, retries, Option::is_some).await?;
        let mut answers = answers.into_iter().peekable();
        let games: Vec<u32> = open_games(run.state()).map(|(number, _)| number).collect();
        for game in games {
            let answer = answers.next_if(|(asked, _)| *asked == game);
            let answer = answer.map(|(_, answer)| answer);
            let (choice, by, causes) = self.choice(run, game, turn, answer);
            let chose = Fact::Chose { game, turn, choice, by };
            origins.add(game, &run.record_ref(chose, &causes)?);
        }
        Ok(())
    }

    /// The option that a player takes, who or what chose it, and the decision.
    fn choice(
        &self,
        run: &Run<Self>,
        game: u32,
        turn: u32,
        answer: Option<RetriedAnswer<Option<String>>>,
    ) -> (u32, ChoiceMaker, Vec<DecisionRef>) {
        let options = run.state().games.get(&game).map_or(&[][..], AdventureGame::options);
        let count = u32::try_from(options.len()).unwrap_or(u32::MAX);
        if let Some(choice) = self.forced_choice(game, turn) {
            return (choice.min(count), ChoiceMaker::Forced, Vec::new());
        }
        match self.config.player {
            Policy::First => (1, ChoiceMaker::First, Vec::new()),
            Policy::Random => {
                let number = run.rng(&format!("game/{game}/{turn}/player")).next_u32();
                (number % count.max(1) + 1, ChoiceMaker::Random, Vec::new())
            }
            Policy::Model | Policy::Human => {
                let by = match self.config.player {
                    Policy::Human => ChoiceMaker::Human,
                    _ => ChoiceMaker::Model,
                };
                let answer = answer.as_ref();
                let causes = answer.and_then(|tried| tried.answer.as_ref().ok());
                let causes = causes.map(|a| a.decision.clone()).into_iter().collect();
                let text =
                    answer.and_then(RetriedAnswer::accepted_answer).and_then(|a| a.value.as_ref());
                let place = text.and_then(|text| options.iter().position(|o| o.text == *text));
                match place.and_then(|place| u32::try_from(place + 1).ok()) {
                    Some(number) => (number, by, causes),
                    None => (1, ChoiceMaker::Default, causes),
                }
            }
        }
    }

    /// The choice in the settings for a turn.
    fn forced_choice(&self, game: u32, turn: u32) -> Option<u32> {
        let here = self.config.choices.iter().find(|c| (c.game, c.turn) == (game, turn));
        here.map(|forced| forced.choose)
    }
}

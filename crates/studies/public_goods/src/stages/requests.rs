//! The requests of the stages.

use serde_json::{Value, json};

use crate::experiment::PublicGoods;
use crate::facts::{DecidingAnswer, Fact, PlayerTurn};
use crate::rules::Units;
use crate::state::{Game, PlayedGames, Round};
use crate::view::PlayerView;
use retold::prompt::{Message, Request, Role};
use retold::run::Stop;

impl PublicGoods {
    fn view<'a>(
        &'a self,
        state: &'a PlayedGames,
        turn: PlayerTurn,
    ) -> Result<PlayerView<'a>, Stop> {
        let game = state
            .game(turn.game)
            .ok_or_else(|| Stop::invalid("game", format!("there is no game {}", turn.game)))?;
        Ok(PlayerView { config: &self.config, rules: &self.rules, game, agent: turn.agent })
    }

    fn fill(&self, name: &str, values: Value) -> Result<String, Stop> {
        Ok(self.prompts.render(name, values)?)
    }

    /// The rules as instructions, and the stage's template with everything before it.
    fn messages(
        &self,
        view: &PlayerView<'_>,
        round: u32,
        stage: &str,
        own: Value,
    ) -> Result<Vec<Message>, Stop> {
        let rules = self.fill("rules", view.rules())?;
        let mut values = json!({
            "history": self.fill("history", view.history())?,
            "heading": view.heading(round),
            "messages": view.messages(round),
            "endowment": self.config.endowment,
            "framing": self.config.contribution_framing,
            "contribution_type": self.config.contribution_type,
        });
        if let (Value::Object(values), Value::Object(own)) = (&mut values, own) {
            values.extend(own);
        }
        let prompt = self.fill(stage, values)?;
        Ok(vec![
            Message::new(Role::System, rules.trim_end()),
            Message::new(Role::User, prompt.trim_end()),
        ])
    }

    pub(super) fn chat_request(
        &self,
        state: &PlayedGames,
        turn: PlayerTurn,
    ) -> Result<Request, Stop> {
        let view = self.view(state, turn)?;
        let messages = self.messages(&view, turn.round, "chat", Value::Null)?;
        Ok(self.config.chat(turn.agent, messages)?)
    }

    pub(super) fn contribution_request(
        &self,
        state: &PlayedGames,
        turn: PlayerTurn,
    ) -> Result<Request, Stop> {
        let view = self.view(state, turn)?;
        let messages = self.messages(&view, turn.round, "contribution", Value::Null)?;
        Ok(self.config.chat(turn.agent, messages)?)
    }

    /// The question for the amount only, after the answer with the reasoning.
    pub(super) fn decision_request(
        &self,
        state: &PlayedGames,
        turn: PlayerTurn,
        answer: &str,
    ) -> Result<Request, Stop> {
        let view = self.view(state, turn)?;
        let mut messages = self.messages(&view, turn.round, "contribution", Value::Null)?;
        messages.push(Message::new(Role::Assistant, answer));
        let prompt = self.fill(
            "decision",
            json!({
                "endowment": self.config.endowment,
                "framing": self.config.contribution_framing,
                "contribution_type": self.config.contribution_type,
            }),
        )?;
        messages.push(Message::new(Role::User, prompt.trim_end()));
        Ok(self.config.chat(turn.agent, messages)?)
    }

    pub(super) fn redistribution_request(
        &self,
        state: &PlayedGames,
        turn: PlayerTurn,
    ) -> Result<Request, Stop> {
        let view = self.view(state, turn)?;
        let nothing = Round::default();
        let round = view.game.round(turn.round).unwrap_or(&nothing);
        let messages =
            self.messages(&view, turn.round, "redistribution", view.revealed_outcome(round))?;
        Ok(self.config.chat(turn.agent, messages)?)
    }

    /// The text that a player is shown about a settled round, from then on.
    pub(in super::super) fn history_text(
        &self,
        game: &Game,
        agent: u32,
        round: u32,
    ) -> Option<String> {
        let view = PlayerView { config: &self.config, rules: &self.rules, game, agent };
        let text = self.prompts.render("history", view.outcome(round)?).ok()?;
        Some(text.trim_end().to_owned())
    }

    /// Fills in every template for a made-up game.
    ///
    /// # Errors
    /// The template error.
    pub(in super::super) fn try_out(&self) -> Result<(), Stop> {
        let by = || DecidingAnswer { method: String::new(), sample: 0 };
        let mut state = PlayedGames::default();
        for agent in 0..2 {
            let (avatar, llm_model) = (format!("PLAYER{agent}"), String::new());
            state.apply(&Fact::Seated { game: 1, agent, avatar, llm_model });
            let turn = PlayerTurn { game: 1, round: 1, agent };
            state.apply(&Fact::Spoke { turn, message: "Hello".to_owned(), by: by() });
            let (by, reasoning) = (by(), None);
            state.apply(&Fact::Contributed { turn, stated: 1, contribution: 1, by, reasoning });
        }
        let (turn, units) = (
            PlayerTurn { game: 1, round: 1, agent: 0 },
            vec![Units { actor: 0, target: 1, decided: 1, actual: 1 }],
        );
        let requests = |state: &PlayedGames, turn: PlayerTurn| -> Result<(), Stop> {
            self.chat_request(state, turn)?;
            self.contribution_request(state, turn)?;
            self.decision_request(state, turn, "")?;
            self.redistribution_request(state, turn).map(drop)
        };
        requests(&state, turn)?;
        state.apply(&Fact::Redistributed { turn, units, was_scaled: false, by: by() });
        let payoffs = vec![(0, 1.0), (1, 1.0)];
        state.apply(&Fact::RoundSettled { game: 1, round: 1, public_fund: 2.0, payoffs });
        requests(&state, PlayerTurn { round: 2, ..turn })
    }
}

//! The requests to the game master, the player and the creator of characters.

use serde_json::{Value, json};

use super::config::Config;
use super::experiment::Adventure;
use super::facts::{ChoiceMaker, Fact, Narration};
use super::offer::{Offer, OfferedOption};
use super::policy::{HUMAN, Policy};
use super::state::{AdventureGame, Games};
use super::view;
use crate::parse::Character;
use retold::prompt::{Message, Request, Role};
use retold::run::Stop;
use retold_study::config::RequestConfig;

/// A game with everything that a prompt may show.
fn sample(nobody: &Character) -> AdventureGame {
    let mut games = Games::default();
    let someone = |name: &str| Character { name: name.to_owned(), ..nobody.clone() };
    let option = |text: &str| OfferedOption {
        text: text.to_owned(),
        impact: Some("an impact".to_owned()),
        kind: None,
        tags: Vec::new(),
    };
    let offer = Offer { options: vec![option("this"), option("that")], ..Offer::default() };
    let told = Narration {
        game: 1,
        turn: 1,
        story: "a story".to_owned(),
        location: None,
        gained: Vec::new(),
        lost: Vec::new(),
        not_there: Vec::new(),
        opponent: Some("opponent".to_owned()),
        offer,
        unusable: 0,
    };
    let (location, inventory) = ("a place".to_owned(), vec!["an item".to_owned()]);
    for fact in [
        Fact::Began { game: 1, hero: someone("hero"), location, inventory },
        Fact::Told(told),
        Fact::Met { game: 1, turn: 1, character: someone("opponent") },
        Fact::Chose { game: 1, turn: 1, choice: 1, by: ChoiceMaker::First },
    ] {
        games.apply(&fact);
    }
    games.games.remove(&1).unwrap_or_default()
}

impl Adventure {
    /// Fills in every template once.
    pub(super) fn try_out(&self) -> Result<(), Stop> {
        let game = sample(&self.nobody());
        self.character_request(&self.config.hero)?;
        let before = AdventureGame { journal: Vec::new(), opponent: None, ..game.clone() };
        self.master_request(&before, 1)?;
        self.master_request(&game, 2)?;
        self.player_request(&game, 1, Policy::Model)?;
        self.player_request(&game, 1, Policy::Human)?;
        Ok(())
    }

    /// A prompt, filled in, without space at its end.
    fn fill(&self, name: &str, values: Value) -> Result<String, Stop> {
        Ok(self.prompts.render(name, values)?.trim_end().to_owned())
    }

    pub(super) fn character_request(&self, who: &str) -> Result<Request, Stop> {
        let prompt = self.fill("character", json!({ "who": who.trim() }))?;
        chat(&self.config.request, vec![Message::new(Role::User, prompt)])
    }

    /// The request to the game master: the opening, the remembered turns, and the current state.
    pub(super) fn master_request(&self, game: &AdventureGame, turn: u32) -> Result<Request, Stop> {
        let Config { opening, memory, turns, request, .. } = &self.config;
        let chosen = game.journal.last().and_then(|entry| entry.chosen_option());
        let now = self.fill(
            "master_turn",
            json!({
                "choice": chosen.map(|c| &c.text), "impact": chosen.and_then(|c| c.impact.as_ref()),
                "turn": turn, "turns": turns, "location": game.location,
                "inventory": game.inventory_text(), "opponent": game.opponent(), "last": turn == *turns,
            }),
        )?;
        let opening =
            self.fill("opening", json!({ "opening": opening.trim(), "hero": game.hero() }))?;
        let mut messages = vec![Message::new(Role::System, self.fill("master_system", json!({}))?)];
        let Some((last, before)) = game.last_turns(*memory).split_last() else {
            messages.push(Message::new(Role::User, format!("{opening}\n\n{now}")));
            return chat(request, messages);
        };
        messages.push(Message::new(Role::User, opening));
        for entry in before {
            let choice = entry.chosen_option().map(|choice| &choice.text);
            let choice = self.fill("choice", json!({ "choice": choice }))?;
            messages.push(Message::new(Role::Assistant, view::written_again(entry)));
            messages.push(Message::new(Role::User, choice));
        }
        messages.push(Message::new(Role::Assistant, view::written_again(last)));
        messages.push(Message::new(Role::User, now));
        chat(request, messages)
    }

    /// The request to a player: what has happened, and the options.
    pub(super) fn player_request(
        &self,
        game: &AdventureGame,
        turn: u32,
        player: Policy,
    ) -> Result<Request, Stop> {
        let Config { memory, turns, request, player_request, .. } = &self.config;
        let Some(entry) = game.journal.last() else {
            return Err(Stop::invalid("turn", "nothing was told"));
        };
        let question = entry.offer.decision.as_ref().map_or("What do you do?", |d| &d.prompt);
        let options: Vec<&str> = entry.offer.options.iter().map(|o| o.text.as_str()).collect();
        let values = json!({
            "hero": game.hero(), "journal": game.past(*memory), "turn": turn, "turns": turns,
            "story": entry.story, "location": game.location, "inventory": game.inventory_text(),
            "opponent": game.opponent(), "question": question, "options": options,
        });
        if player == Policy::Human {
            let prompt = self.fill("human", values)?;
            let request = RequestConfig {
                model: HUMAN.to_owned(),
                temperature: None,
                top_p: None,
                max_tokens: None,
                extra: serde_json::Map::new(),
            };
            return chat(&request, vec![Message::new(Role::User, prompt)]);
        }
        let prompt = self.fill("player", values)?;
        let request = player_request.as_ref().unwrap_or(request);
        chat(request, vec![Message::new(Role::User, prompt)])
    }
}

fn chat(config: &RequestConfig, messages: Vec<Message>) -> Result<Request, Stop> {
    Ok(config.chat(messages).into_request()?)
}

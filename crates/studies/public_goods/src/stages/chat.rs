//! Messages, one player after the other.

use crate::ask::{PlayerQuestion, is_usable};
use crate::experiment::PublicGoods;
use crate::facts::Fact;
use crate::origins::PlayerOrigins;
use crate::stage::Stage;
use retold::run::{Run, Stop};
use retold_study::at_once::at_once;

/// Words that mean silence: the prompt offers the first, and the original program accepts all of
/// them.
const SILENCE: [&str; 5] = ["nothing", "none", "no message", "pass", "skip"];

impl PublicGoods {
    /// Every player may say something to all others.
    pub(in super::super) async fn chat(
        &self,
        run: &mut Run<Self>,
        origins: &mut PlayerOrigins,
        round: u32,
    ) -> Result<(), Stop> {
        let turns = self.turns(run.state(), round);
        for speaker in 0..self.config.group_size {
            let asks = turns.iter().filter(|turn| turn.agent == speaker).map(|turn| {
                let (request, parser) =
                    (self.chat_request(run.state(), *turn)?, self.parsers.chat.clone());
                let because = origins.sources(turn.game, turn.agent);
                Ok(PlayerQuestion { turn: *turn, stage: Stage::Chat, request, parser, because })
            });
            let asks = at_once(asks, |ask| &ask.request)?;
            for (turn, outcome) in self.ask(run, asks, is_usable).await? {
                match outcome {
                    Ok(got) => {
                        let is_silence = SILENCE.iter().any(|w| got.value.eq_ignore_ascii_case(w));
                        let message = if is_silence { String::new() } else { got.value };
                        let spoke = Fact::Spoke { turn, message, by: got.by };
                        origins.add_decision(turn.game, turn.agent, &got.decision);
                        origins.record(run, spoke, &[got.decision])?;
                    }
                    Err(failed) => run.record(failed.fact(), &[])?,
                }
            }
        }
        Ok(())
    }
}

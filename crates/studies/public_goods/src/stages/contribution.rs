//! Contributions, all at once.

use crate::ask::{Got, Outcome, PlayerQuestion, is_usable};
use crate::experiment::PublicGoods;
use crate::facts::{Fact, PlayerTurn};
use crate::origins::PlayerOrigins;
use crate::parse::contribution_of;
use crate::stage::Stage;
use retold::content::Content;
use retold::run::{DecisionRef, Run, Stop};
use retold_study::at_once::at_once;

impl PublicGoods {
    /// Every player contributes.
    pub(in super::super) async fn contribute(
        &self,
        run: &mut Run<Self>,
        origins: &mut PlayerOrigins,
        round: u32,
    ) -> Result<(), Stop> {
        let asks = self.turns(run.state(), round).into_iter().map(|turn| {
            let request = self.contribution_request(run.state(), turn)?;
            let parser = self.parsers.contribution.clone();
            let because = origins.sources(turn.game, turn.agent);
            Ok(PlayerQuestion { turn, stage: Stage::Contribution, request, parser, because })
        });
        let asks = at_once(asks, |ask| &ask.request)?;
        let answers = if self.config.decision_apart {
            // The number comes with the second answer, so the first is always usable.
            let reasoned = self.ask(run, asks, |_| true).await?;
            self.ask_for_amounts(run, reasoned).await?
        } else {
            let answers = self.ask(run, asks, is_usable).await?.into_iter();
            answers
                .map(|(turn, outcome)| (turn, outcome.map(DecidedContribution::at_once)))
                .collect()
        };
        for (turn, outcome) in &answers {
            // The first question shows everything; only the amount is asked for after it.
            if let Some(first) = outcome.as_ref().ok().and_then(|decided| decided.causes.first()) {
                origins.add_decision(turn.game, turn.agent, first);
            }
        }
        for (turn, outcome) in answers {
            match outcome {
                Ok(decided) => {
                    let DecidedContribution { got, reasoning, causes } = decided;
                    let contribution = self.contribution(got.value);
                    let (stated, by) = (got.value, got.by);
                    let reasoning = self.of_fact(reasoning);
                    let contributed =
                        Fact::Contributed { turn, stated, contribution, by, reasoning };
                    let fact = origins.record(run, contributed, &causes)?;
                    origins.set_reasons(turn, (&fact).into());
                }
                Err(failed) => run.record(failed.fact(), &[])?,
            }
        }
        Ok(())
    }

    /// Reasons as a fact has them: only those of which vectors are made.
    fn of_fact(&self, reasoning: Option<String>) -> Option<String> {
        let wanted = self.config.reasoning.embedding_model.is_some();
        reasoning.filter(|text| wanted && !text.is_empty())
    }

    /// The amount that remains in the public fund when a player states one: as the contribution
    /// type allows, and converted if the stated amount is a withdrawal.
    pub(in super::super) fn contribution(&self, stated: i64) -> i64 {
        let (config, endowment) = (&self.config, self.rules.endowment);
        let coins = contribution_of(stated, config.contribution_framing, endowment);
        config.contribution_type.nearest_allowed(coins, endowment)
    }

    async fn ask_for_amounts(
        &self,
        run: &mut Run<Self>,
        reasoned: Vec<(PlayerTurn, Outcome<i64>)>,
    ) -> Result<
        Vec<(PlayerTurn, Result<DecidedContribution, super::super::ask::PlayerFailure>)>,
        Stop,
    > {
        let asks = reasoned.iter().filter_map(|(turn, outcome)| {
            let Got { content, decision, .. } = outcome.as_ref().ok()?;
            let text = match content {
                Content::Text(text) => text.clone(),
                Content::Vector(_) => return None,
            };
            let ask =
                self.decision_request(run.state(), *turn, &text).map(|request| PlayerQuestion {
                    turn: *turn,
                    stage: Stage::Decision,
                    request,
                    parser: self.parsers.contribution.clone(),
                    because: vec![decision.question().into(), decision.into()],
                });
            Some(ask)
        });
        let asks = at_once(asks, |ask| &ask.request)?;
        let mut amounts = self.ask(run, asks, is_usable).await?.into_iter().peekable();
        let mut decided = Vec::new();
        for (turn, first) in reasoned {
            let outcome = match first {
                Err(failed) => Err(failed),
                Ok(first) => match amounts.next_if(|(of, _)| *of == turn) {
                    Some((_, Ok(got))) => {
                        let causes = vec![first.decision, got.decision.clone()];
                        Ok(DecidedContribution { got, reasoning: first.reasoning, causes })
                    }
                    Some((_, Err(failed))) => Err(failed),
                    None => continue,
                },
            };
            decided.push((turn, outcome));
        }
        Ok(decided)
    }
}

/// A contribution that a player decided on.
struct DecidedContribution {
    got: Got<i64>,
    reasoning: Option<String>,
    causes: Vec<DecisionRef>,
}

impl DecidedContribution {
    fn at_once(mut got: Got<i64>) -> Self {
        let (reasoning, causes) = (got.reasoning.take(), vec![got.decision.clone()]);
        DecidedContribution { got, reasoning, causes }
    }
}

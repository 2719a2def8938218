//! The experiment itself: days of questions and actions, and nights.

use std::sync::Arc;

use serde_json::Value;

use super::agent_sources::AgentSources;
use super::context::DayBriefing;
use super::facts::{Fact, Rejecter};
use super::personality::{Personality, deal};
use super::prompts::SocietyPrompts;
use super::rules::{Forbidden, close_proposals, consume, enact, turn};
use super::settings::Settings;
use super::story::story;
use super::world::World;
use super::{check, outputs, report};
use crate::parse::{ACTION, Action, ActionParams, ActionParser, parser};
use retold::id::CallPath;
use retold::parse::Parser;
use retold::parse::registry::RegistryError;
use retold::prompt::{Message, Role};
use retold::run::shuffle;
use retold::run::{
    Answer, CallFailed, Experiment, OutputError, OutputFile, Question, Report, Run, RunRecord, Stop,
};
use retold_study::at_once::at_once;
use retold_study::config::RequestConfig;
use retold_study::error::StudyError;
use retold_study::template::TemplateError;

/// Agents who live together for some days.
pub struct Society {
    settings: Settings,
    prompts: SocietyPrompts,
    parser: Arc<ActionParser>,
}

/// The version of the parser that a setting names.
pub(super) fn version(parser: &str) -> Result<u32, StudyError> {
    ACTION.resolve(parser).map_err(|e| match e {
        RegistryError::UnknownName { name, .. } => {
            StudyError::part("parser", format!("{name} does not parse actions of agents"))
        }
        e => StudyError::part("parser", e),
    })
}

impl Society {
    /// The experiment with the given settings.
    ///
    /// # Errors
    /// The setting with which it cannot be run.
    pub fn new(settings: Settings) -> Result<Self, StudyError> {
        let version = version(&settings.parser)?;
        check::check(&settings)?;
        let params = ActionParams { agents: settings.agents };
        let parser = parser(version, params).map_err(|e| StudyError::part("parser", e))?;
        let prompts = SocietyPrompts::new(&settings.prompts)?;
        let society = Society { settings, prompts, parser: Arc::new(parser) };
        society.try_out()?;
        Ok(society)
    }

    /// Fills in every template once, so that errors are found before the first question.
    fn try_out(&self) -> Result<(), TemplateError> {
        let mut world = World::default();
        world.apply(&Fact::WorldMade { rules: self.settings.rules.clone() });
        let (personality, model) = (Personality::Neutral, String::new());
        world.apply(&Fact::AgentJoined { agent_id: 1, personality, model });
        for personality in Personality::ALL {
            self.prompts.system(1, 1, &self.settings.rules.needs, personality)?;
        }
        let shared = DayBriefing::new(&world, &self.prompts, &self.settings.context)?;
        shared.for_agent(&world, 1, &self.prompts, &self.settings.context).map(drop)
    }

    /// Creates the world and its agents.
    fn begin(&self, run: &mut Run<Self>, seen: &mut AgentSources) -> Result<(), Stop> {
        let Settings { agents, personalities, models, rules, .. } = &self.settings;
        seen.record(run, Fact::WorldMade { rules: rules.clone() }, &[])?;
        let count = usize::try_from(*agents).unwrap_or(usize::MAX);
        let shares: Vec<(Personality, f64)> = personalities.iter().map(|(p, s)| (*p, *s)).collect();
        let personalities = deal(&shares, count, &mut run.rng("personalities"));
        let shares: Vec<(String, f64)> =
            models.iter().map(|m| (m.model.clone(), m.share)).collect();
        let models = deal(&shares, count, &mut run.rng("models"));
        for (agent_id, (personality, model)) in (1..).zip(personalities.into_iter().zip(models)) {
            seen.record(run, Fact::AgentJoined { agent_id, personality, model }, &[])?;
        }
        Ok(())
    }

    /// The questions of a day: one to each active agent.
    fn questions(
        &self,
        world: &World,
        seen: &AgentSources,
    ) -> Result<Vec<(u32, Question<ActionParser>)>, Stop> {
        let context = &self.settings.context;
        let shared = DayBriefing::new(world, &self.prompts, context)?;
        let agents = world.active().filter_map(|id| Some((id, world.agents.get(&id)?)));
        let questions = agents.map(|(id, agent)| {
            let system =
                self.prompts.system(id, world.agents.len(), &world.rules.needs, agent.personality);
            let mut parts = shared.for_agent(world, id, &self.prompts, context)?;
            if context.one_text {
                parts = vec![parts.concat()];
            }
            let messages =
                vec![Message::new(Role::System, system?), Message { role: Role::User, parts }];
            let model = agent.model.clone();
            let request = RequestConfig { model, ..self.settings.request.clone() };
            let call = CallPath::new(format!("day/{}/agent/{id}", world.day))?;
            let request = request.chat(messages).into_request()?;
            let question = Question::new(call, request, self.parser.clone());
            let question = question.label("day", world.day).label("agent", id);
            Ok((id, question.because(seen.by(id))))
        });
        at_once(questions, |(_, question)| question.request())
    }

    /// One day: all agents are asked at once, then act in turn.
    async fn day(
        &self,
        run: &mut Run<Self>,
        seen: &mut AgentSources,
        day: u32,
    ) -> Result<(), Stop> {
        seen.record(run, Fact::DayBegan { day }, &[])?;
        let (agents, questions): (Vec<u32>, Vec<_>) =
            self.questions(run.state(), seen)?.into_iter().unzip();
        let answers = run.ask_all(questions).await?;
        let mut turns: Vec<_> = agents.into_iter().zip(answers).collect();
        for (agent, answer) in &turns {
            if let Ok(answer) = answer {
                seen.add_decision(*agent, &answer.decision);
            }
        }
        if self.settings.shuffle_actions {
            shuffle(&mut turns, &mut run.rng(&format!("order of day {day}")));
        }
        for (agent, answer) in turns {
            act(run, seen, agent, answer, self.parser.spec().version)?;
        }
        for rule in [close_proposals, enact, consume] {
            for fact in rule(run.state()) {
                seen.record(run, fact, &[])?;
            }
        }
        seen.record(run, Fact::DayEnded { day }, &[])
    }
}

/// The consequences of an agent's answer.
fn act(
    run: &mut Run<Society>,
    seen: &mut AgentSources,
    agent_id: u32,
    answer: Result<Answer<Action>, CallFailed>,
    version: u32,
) -> Result<(), Stop> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(failed) => {
            let reason = failed.failure.to_string();
            return seen.record(run, Fact::NotAnswered { agent_id, reason }, &[]);
        }
    };
    let facts = turn(run.state(), agent_id, &answer.value).unwrap_or_else(|forbidden| {
        let rejected_by = match forbidden {
            Forbidden::Rejected(_) => Rejecter::Parser,
            _ => Rejecter::World,
        };
        let action = stated_action(&answer.value, version);
        let reason = forbidden.to_string();
        vec![Fact::InvalidAction { agent_id, rejected_by, reason, action }]
    });
    let causes = [answer.decision];
    facts.into_iter().try_for_each(|fact| seen.record(run, fact, &causes))
}

/// The stated action, as a fact records it. The document's program, whose rule version 1 is, keeps none.
fn stated_action(action: &Action, version: u32) -> Option<Value> {
    match action {
        Action::Rejected { stated, .. } => stated.clone(),
        action if version > 1 => serde_json::to_value(action).ok(),
        _ => None,
    }
}

impl Experiment for Society {
    type Event = Fact;
    type State = World;

    fn apply(world: &mut World, fact: &Fact) {
        world.apply(fact);
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let Settings { agents, days, .. } = self.settings;
        run.expect(u64::from(agents) * u64::from(days));
        let mut seen = AgentSources::default();
        self.begin(run, &mut seen)?;
        for day in 1..=days {
            // No agent is left who could provide for another.
            if run.state().active().next().is_none() {
                break;
            }
            self.day(run, &mut seen, day).await?;
            run.mark_step("day", day, days)?;
        }
        Ok(())
    }

    fn report(&self, world: &World) -> Report {
        report::report(world)
    }

    fn outputs(
        &self,
        world: &World,
        _: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        outputs::files(world, &report::report(world))
    }

    fn story(
        &self,
        world: &World,
        part: &str,
        record: &mut RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError> {
        story(world, part, record)
    }
}

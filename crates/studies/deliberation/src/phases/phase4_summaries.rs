//! Phase 4: summaries of the clarifications, their vectors, clusters of these, and descriptions of
//! the clusters with their own vectors.

use std::sync::Arc;

use serde_json::json;

use crate::ask::{QuestionFailure, non_empty};
use crate::calls::{self, LabelledCall};
use crate::conditions::Condition;
use crate::experiment::Deliberation;
use crate::facts::Fact;
use crate::grouping::{NewCluster, group};
use crate::origins::{FactOrigins, OriginKey};
use crate::state::{DeliberationState, Participant};
use crate::values::prompt_turns;
use retold::content::Content;
use retold::id::{CallPath, ContentHash};
use retold::members::Members;
use retold::run::{Answer, CallFailed, DecisionRef, Question, Reuse, Run, Source, Stop, Talk};
use retold_stats::Point;
use retold_study::floats::Floats;

/// A vector, and the decision on the answer that it comes from.
type Embedded = Result<(Arc<[f32]>, DecisionRef), QuestionFailure>;

impl Deliberation {
    /// All five steps.
    pub(in super::super) async fn summarise(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
    ) -> Result<(), Stop> {
        self.extract_summaries(run, origins).await?;
        self.embed_summaries(run, origins).await?;
        let formed = self.form_clusters(run, origins)?;
        let failed = self.describe_clusters(run, origins, &formed).await?;
        self.fail_without_positions(run, failed)?;
        run.record(Fact::PhaseCompleted { phase: 4 }, &[])
    }

    /// If no cluster has a description, there is nothing to read: fails everyone who would be shown
    /// the others' positions, with the first reason.
    fn fail_without_positions(
        &self,
        run: &mut Run<Self>,
        failed: Option<String>,
    ) -> Result<(), Stop> {
        let state = run.state();
        if !self.needs_input() || state.clusters.iter().any(|c| c.description.is_some()) {
            return Ok(());
        }
        let clarified = state.participants.values().filter(|p| p.condition.is_clarified());
        let why = failed.or_else(|| clarified.filter_map(|p| p.error_message.clone()).next());
        let reason = match why {
            Some(why) => format!("there are no positions of others to read, because {why}"),
            None => "there are no positions of others to read".to_owned(),
        };
        let readers = state.active().filter(|p| p.condition != Condition::SimpleVoting);
        let readers: Vec<String> = readers.map(|p| p.participant_id.clone()).collect();
        for id in readers {
            let call = calls::final_vote(&id);
            run.record(QuestionFailure { call, sample: 0, reason: reason.clone() }.fact(&id), &[])?;
        }
        Ok(())
    }

    async fn extract_summaries(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
    ) -> Result<(), Stop> {
        let clarified = run.state().active().filter(|p| p.clarification_transcript.is_some());
        let participants: Vec<Participant> = clarified.cloned().collect();
        let extract = async |talk: &mut Talk<Self>, who: Participant| {
            let mut values = self.about(&who);
            let turns = who.clarification_transcript.as_deref().unwrap_or(&[]);
            values.set("dialogue", json!(prompt_turns(turns, "Participant")));
            let request = self.single(self.prompt("individual_summary", values)?)?;
            let call = who.labelled_call(calls::summary);
            let participant_id = who.participant_id;
            let mut from = self.made_from(origins, &participant_id, &["individual_summary"]);
            from.extend(origins.sources([OriginKey::Clarification(participant_id.clone())]));
            match self
                .ask_until_usable(talk, call, request, &from, &self.parsers.text, non_empty)
                .await?
            {
                Ok((summary, cause)) => {
                    let summarised = Fact::Summarised { participant_id, summary };
                    origins.tell(talk, summarised, &[cause]);
                }
                Err(failed) => talk.record(failed.fact(&participant_id), &[]),
            }
            Ok(())
        };
        run.converse_all(participants, extract).await.map(drop)
    }

    async fn embed_summaries(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
    ) -> Result<(), Stop> {
        let summarised = run.state().active().filter_map(|p| {
            Some((
                p.labelled_call(calls::embedding),
                p.participant_id.clone(),
                p.individual_summary.clone()?,
            ))
        });
        let summaries: Vec<(LabelledCall, String, String)> = summarised.collect();
        let calls = summaries.iter().map(|(call, id, text)| {
            (call.clone(), text.as_str(), origins.sources([OriginKey::Summary(id.clone())]))
        });
        let vectors = self.embed(run, calls).await?;
        for ((_, participant_id, _), vector) in summaries.into_iter().zip(vectors) {
            match vector {
                Ok((floats, cause)) => {
                    let (dimensions, vector, floats) = of_fact(floats);
                    let fact = Fact::SummaryEmbedded { participant_id, dimensions, vector, floats };
                    origins.record(run, fact, &[cause])?;
                }
                Err(failed) => run.record(failed.fact(&participant_id), &[])?,
            }
        }
        Ok(())
    }

    /// Asks for the vectors of texts, each at its own address and with its own sources; the same
    /// text is requested only once.
    async fn embed<'a>(
        &self,
        run: &mut Run<Self>,
        texts: impl Iterator<Item = (LabelledCall, &'a str, Vec<Source>)>,
    ) -> Result<Vec<Embedded>, Stop> {
        let (mut questions, mut calls) = (Vec::new(), Vec::new());
        for (call, text, from) in texts {
            let LabelledCall { call, labels } = call;
            let (call, request) = (CallPath::new(call)?, self.config.embedding(text)?);
            let question = Question::new(call.clone(), request, self.parsers.vector.clone());
            questions.push(question.because(from).labels(labels).reuse(Reuse::Shared));
            calls.push(call);
        }
        let answers = run.ask_all(questions).await?;
        Ok(answers.into_iter().zip(calls).map(|(answer, call)| vector(answer, &call)).collect())
    }

    /// The voters of an option whose summaries have vectors, in the order of their ids, and their clusters.
    pub(crate) fn clusters_of(
        &self,
        state: &DeliberationState,
        option: &String,
    ) -> (Vec<(String, Point)>, Vec<NewCluster>) {
        let voters = state.active().filter(|p| p.initial_choice.as_ref() == Some(option));
        let members: Vec<(String, Point)> = voters
            .filter_map(|p| {
                let id = &p.participant_id;
                Some((id.clone(), state.summary_point(id)?))
            })
            .collect();
        let number = self.config.topic.options.iter().position(|it| it == option);
        let formed = number.map_or_else(Vec::new, |number| {
            group(number, option, &members, &self.config, self.cluster_seed())
        });
        (members, formed)
    }

    fn form_clusters(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
    ) -> Result<Vec<NewCluster>, Stop> {
        let options = self.config.topic.options.iter();
        let formed: Vec<NewCluster> =
            options.flat_map(|option| self.clusters_of(run.state(), option).1).collect();
        for NewCluster { cluster_id, option, member_ids, .. } in formed.iter().cloned() {
            let causes = origins.decisions(member_ids.iter().cloned().map(OriginKey::Place));
            let formed = Fact::ClusterFormed { cluster_id, option, member_ids };
            origins.record(run, formed, &causes)?;
        }
        Ok(formed)
    }

    /// Returns why the first cluster without a description has none.
    async fn describe_clusters(
        &self,
        run: &mut Run<Self>,
        origins: &FactOrigins,
        formed: &[NewCluster],
    ) -> Result<Option<String>, Stop> {
        let participants = run.state().participants.clone();
        let describe = async |talk: &mut Talk<Self>, cluster: &NewCluster| {
            let members = cluster.member_ids.iter().filter_map(|id| participants.get(id));
            let summaries: Vec<&str> =
                members.filter_map(|p| p.individual_summary.as_deref()).collect();
            let values = json!({"option": cluster.option, "individual_summaries": summaries});
            let request = self.single(self.prompt("cluster_description", values)?)?;
            let call = calls::cluster_description(&cluster.call);
            let call = LabelledCall::of_cluster(&cluster.cluster_id, call);
            let known = cluster.member_ids.iter().cloned().map(OriginKey::Summary);
            let from =
                origins.sources(known.chain([OriginKey::Cluster(cluster.cluster_id.clone())]));
            self.ask_until_usable(talk, call, request, &from, &self.parsers.text, non_empty).await
        };
        let described = run.converse_all(formed, describe).await?;
        let calls = formed.iter().zip(&described).filter_map(|(cluster, described)| {
            let (text, cause) = described.as_ref().ok()?;
            let call = calls::cluster_embedding(&cluster.call);
            let call = LabelledCall::of_cluster(&cluster.cluster_id, call);
            Some((call, text.as_str(), vec![cause.into()]))
        });
        let mut vectors = self.embed(run, calls).await?.into_iter();
        let mut first = None;
        for (cluster, described) in formed.iter().zip(described) {
            let cluster_id = cluster.cluster_id.clone();
            let both = described.and_then(|(description, cause)| match vectors.next() {
                Some(Ok((vector, second))) => Ok((description, vector, [cause, second])),
                Some(Err(failed)) => Err(failed),
                None => Err(QuestionFailure {
                    call: cluster.call.clone(),
                    sample: 0,
                    reason: String::new(),
                }),
            });
            match both {
                Ok((description, floats, causes)) => {
                    let (dimensions, vector, floats) = of_fact(floats);
                    let fact = Fact::ClusterDescribed {
                        cluster_id,
                        description,
                        dimensions,
                        vector,
                        floats,
                    };
                    origins.record(run, fact, &causes)?;
                }
                Err(QuestionFailure { call, sample, reason }) => {
                    let reason = format!("{call} sample {sample}: {reason}");
                    first.get_or_insert_with(|| reason.clone());
                    run.record(Fact::ClusterFailed { cluster_id, reason }, &[])?;
                }
            }
        }
        Ok(first)
    }
}

fn vector(answer: Result<Answer<bool>, CallFailed>, call: &CallPath) -> Embedded {
    let answer = answer.map_err(QuestionFailure::from)?;
    match answer.content {
        Content::Vector(vector) if !vector.is_empty() => Ok((vector, answer.decision)),
        Content::Vector(_) | Content::Text(_) => {
            let reason = "the answer is no vector".to_owned();
            Err(QuestionFailure { call: call.to_string(), sample: 0, reason })
        }
    }
}

/// A vector as a fact has it: its length, its hash, and the vector.
fn of_fact(floats: Arc<[f32]>) -> (usize, ContentHash, Floats) {
    let (dimensions, hash) = (floats.len(), Content::Vector(floats.clone()).hash());
    (dimensions, hash, Floats(floats))
}

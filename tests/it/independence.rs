//! Every sentence about shares, samples and independence, on made-up runs whose truth is known: all values null, all
//! of them fallbacks, answers shared, calls asked again, two clusters.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use retold::id::CallPath;
use retold::log::{Log, SqliteBackend, SqliteOptions};
use retold::model::{Ask, Failure, Model, ModelInfo, Response};
use retold::parse::vote::{VoteParams, VoteParser, parser};
use retold::run::{DecisionRef, Experiment, Question, Report, Reuse, Run, Stop};

use crate::serve::Served;
use crate::support::cli::Place;
use crate::support::mixed::chat;
use crate::support::trial::Trial;

/// What is wrong with a run, if anything.
#[derive(Clone, Copy, PartialEq)]
enum MadeUp {
    /// Ten people name two options each.
    AllNull,
    /// Ten people name none.
    AllFallback,
    /// Twelve people get the answers to three prompts.
    SharedAnswers,
    /// Ten people are asked until they name one, at the second time.
    Reasks,
    /// Ten people in two games, who hear what was said before.
    TwoClusters,
}

struct Poll(MadeUp, Arc<VoteParser>);

impl Poll {
    fn new(made_up: MadeUp) -> Self {
        let options = ["park", "bus"].map(str::to_owned).into();
        Poll(made_up, Arc::new(parser(VoteParams { options }).unwrap()))
    }

    fn question(&self, person: u32, last: Option<&DecisionRef>) -> Question<VoteParser> {
        let prompt = if self.0 == MadeUp::SharedAnswers { person % 3 } else { person };
        let call = CallPath::new(format!("poll/p{person}")).unwrap();
        let question = Question::new(call, chat(format!("Park or bus? {prompt}")), self.1.clone());
        let question = question.label("participant", format!("p{person}")).because(last);
        match self.0 {
            MadeUp::SharedAnswers => question.reuse(Reuse::Shared),
            MadeUp::TwoClusters => question.label("game", person % 2),
            _ => question,
        }
    }
}

impl Experiment for Poll {
    type Event = Option<String>;
    type State = Vec<Option<String>>;

    fn apply(votes: &mut Self::State, vote: &Option<String>) {
        votes.push(vote.clone());
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let people = if self.0 == MadeUp::SharedAnswers { 12 } else { 10 };
        let most = if self.0 == MadeUp::Reasks { 2 } else { 1 };
        let mut last: Option<DecisionRef> = None;
        for person in 0..people {
            let question = self.question(person, last.as_ref());
            let tried = run.ask_until(question, most, |answer| answer.value.is_some()).await?;
            let Ok(answer) = tried.answer else { continue };
            run.record(answer.value, std::slice::from_ref(&answer.decision))?;
            last = Some(answer.decision).filter(|_| self.0 == MadeUp::TwoClusters);
        }
        Ok(())
    }

    fn report(&self, _: &Self::State) -> Report {
        Report::default()
    }
}

impl Model for Poll {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "made up".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let text = match self.0 {
            MadeUp::AllNull => "Either park or bus.",
            MadeUp::AllFallback => "I would rather not say.",
            MadeUp::Reasks if ask.sample == 0 => "Neither.",
            _ => "park",
        };
        async move { Ok(Response::text(text)) }.boxed()
    }
}

/// What is said of a run: by the audit, by the report and by the page.
fn said_of(made_up: MadeUp) -> String {
    let place = Place::new();
    let backend =
        SqliteBackend::open_or_create(&place.path("retold.db"), SqliteOptions::default()).unwrap();
    let trial = Trial::new(&Log::new(Arc::new(backend)), 1, Arc::new(Poll::new(made_up)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(trial.record(&Poll::new(made_up)));
    drop(trial);
    let audit = place.ok("audit latest --independence");
    let sentence = audit.lines().find(|line| line.starts_with("vote of poll: ")).unwrap();
    place.ok("report latest -o report.html");
    let page = place.read("report.html");
    let page = page.replace("&#39;", "'");
    assert!(page.contains(&format!("<li>{sentence}</li>")), "{sentence}\n{page}");
    let found = page.lines().find(|line| line.starts_with("<p>Of ")).unwrap();
    let stats = place.ok("stats latest");
    let numbers = stats.lines().find(|line| line.contains("vote@1: ")).unwrap().trim();
    // The page has the same numbers.
    let served = Served::log(&place, "retold.db");
    let shown = served.json("/run/latest/stats");
    let (stats, _) = place.json("stats latest");
    assert_eq!(shown["stats"]["parsers"], stats["parsers"]);
    format!("{sentence}\n{found}\n{numbers}\n")
}

#[test]
fn what_is_said_of_runs_whose_truth_is_known_is_true() {
    let of = [
        ("all values are null", MadeUp::AllNull),
        ("all are fallbacks", MadeUp::AllFallback),
        ("answers are shared", MadeUp::SharedAnswers),
        ("every call is asked again", MadeUp::Reasks),
        ("there are two clusters", MadeUp::TwoClusters),
    ];
    let said = of.map(|(what, made_up)| format!("{what}\n{}", said_of(made_up)));
    insta::assert_snapshot!(said.join("\n"));
}

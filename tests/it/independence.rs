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
#[derive(Debug, Clone, Copy, PartialEq)]
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

impl MadeUp {
    /// What a report has to say of it, besides the sentence about independence: its calls; values that count in the share,
    /// missing ones, fallbacks, share and interval; how decisions were found.
    fn truth(self) -> [&'static str; 4] {
        match self {
            MadeUp::AllNull => [
                "calls | 10: 10 answered",
                "attempts | 10, 0 failed",
                "0 | 10 | 0 | - | none: no values",
                "Of 10 decisions in run 0101010101010101: 0 (0.00 %) were found in the answer; 0 come from a parser's last resort; 10 have the value null.",
            ],
            MadeUp::AllFallback => [
                "calls | 10: 10 answered",
                "attempts | 10, 0 failed",
                "0 | 0 | 10 | - | none: no values",
                "Of 10 decisions in run 0101010101010101: 0 (0.00 %) were found in the answer; 10 come from a parser's last resort; 10 have the value null.",
            ],
            MadeUp::SharedAnswers => [
                "calls | 12: 12 answered (of these 9 reused)",
                "attempts | 3, 0 failed",
                "12 | 0 | 0 | 100.00 % | none",
                "Of 12 decisions in run 0101010101010101: 12 (100.00 %) were found in the answer; 0 come from a parser's last resort.",
            ],
            MadeUp::Reasks => [
                "calls | 20: 20 answered",
                "attempts | 20, 0 failed",
                "10 | 0 | 0 | 100.00 % | [69.15, 100.00] Clopper-Pearson over 10 participants",
                "Of 20 decisions in run 0101010101010101: 10 (50.00 %) were found in the answer; 10 come from a parser's last resort; 10 have the value null.",
            ],
            MadeUp::TwoClusters => [
                "calls | 10: 10 answered",
                "attempts | 10, 0 failed",
                "10 | 0 | 0 | 100.00 % | none with 2 games: 100.00 %, 100.00 %",
                "Of 10 decisions in run 0101010101010101: 10 (100.00 %) were found in the answer; 0 come from a parser's last resort.",
            ],
        }
    }
}

/// What a report says in words and tables. Of what it says about the run, calls and attempts; times differ each time.
fn sentences(page: &str) -> Vec<String> {
    let body = page.split("<h2>Calls, tokens, latency</h2>").next().unwrap();
    let recorded = page.split("<h2>How it was recorded</h2>").nth(1).unwrap();
    let mut said = Vec::new();
    for line in body.lines().chain(recorded.lines()) {
        let is_said = ["<p>", "<p class=banner>", "<li>", "<tr>", "<tr class=warn>", "<h2>"];
        if !is_said.iter().any(|begin| line.starts_with(begin)) {
            continue;
        }
        let cells = line.replace("</td><td", "</td> | <td").replace("</th><t", "</th> | <t");
        let mut text = String::new();
        let mut rest = cells.as_str();
        while let Some((before, tag)) = rest.split_once('<') {
            text.push_str(before);
            rest = tag.split_once('>').map_or("", |(_, after)| after);
        }
        text.push_str(rest);
        said.push(text.trim().to_owned());
    }
    let of_run = ["run | ", "recorded | ", "tokens | ", "recorded by | ", "events | "];
    said.retain(|text| !of_run.iter().any(|begin| text.starts_with(begin)));
    said
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
    let figure = ["--figure", "share of vote = park"];
    let report = ["report", "latest", "-o", "report.html", figure[0], figure[1]];
    let written = place.args(&report);
    assert_eq!(written.code, 0, "{written:?}");
    let page = place.read("report.html");
    let page = page.replace("&#39;", "'");
    assert!(page.contains(&format!("<li>{sentence}</li>")), "{sentence}\n{page}");
    let reported = sentences(&page);
    for truth in made_up.truth() {
        assert!(reported.iter().any(|said| said == truth), "{truth}\nis not in\n{reported:#?}");
    }
    let reported = reported.join("\n");
    let stats = place.ok("stats latest");
    let numbers = stats.lines().find(|line| line.contains("vote@1: ")).unwrap().trim();
    // The page has the same numbers.
    let served = Served::log(&place, "retold.db");
    let shown = served.json("/run/latest/stats");
    let (stats, _) = place.json("stats latest");
    assert_eq!(shown["stats"]["parsers"], stats["parsers"]);
    // And the run's page the same figures, each with its shares, what is missing, interval and differences.
    let page = served.json("/run/latest");
    let figures = |of: &serde_json::Value| of["figures"].as_array().cloned().unwrap_or_default();
    let (shown, printed) = (figures(&page), figures(&stats));
    assert_eq!(shown.len(), printed.len(), "{page}");
    for (shown, printed) in shown.iter().zip(&printed) {
        for (key, value) in printed.as_object().unwrap() {
            assert_eq!(&shown[key], value, "{key}");
        }
    }
    format!("{sentence}\n{numbers}\nthe report\n{reported}\n")
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

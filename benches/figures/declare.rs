//! The cost of declaring what prompts were made from: 64 dialogues of 100 turns, recorded and
//! replayed with and without declarations.

use std::sync::Arc;
use std::time::Duration;

use retold::id::CallPath;
use retold::parse::text::free_text;
use retold::run::{Experiment, Mode, Question, Report, Run, SoFar, Stop, Talk};

use crate::study::{Study, execute_at};
use crate::{rate, row, timed};

const DIALOGUES: u64 = 64;
const TURNS: u64 = 100;
const ROUNDS: usize = 5;

/// Dialogues whose turns name the last question and the decision on it, or nothing.
struct Dialogues {
    study: Study,
    declares: bool,
}

impl Experiment for Dialogues {
    type Event = ();
    type State = ();

    fn apply(_: &mut (), _: &()) {}

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let parser = Arc::new(free_text::parser()?);
        let talk = async |talk: &mut Talk<Self>, number: u64| {
            let mut so_far = SoFar::default();
            for turn in 0..TURNS {
                let number = number * TURNS + turn;
                let (call, request) =
                    (CallPath::new(format!("turn/{number}"))?, self.study.request(number));
                let question = Question::new(call, request, parser.clone());
                let question = question.because(so_far.sources());
                let Ok(answer) = talk.ask(question).await? else { break };
                if self.declares {
                    so_far.replace_with(&answer.decision);
                    so_far.add(&answer.decision);
                }
            }
            Ok(())
        };
        run.converse_all(0..DIALOGUES, talk).await.map(drop)
    }

    fn report(&self, (): &()) -> Report {
        Report::default()
    }
}

pub(crate) fn measure() {
    let study = Study::new(DIALOGUES * TURNS, 1, 1000, 600);
    let folder = tempfile::tempdir().unwrap();
    let mut took = [const { Vec::new() }; 4];
    let mut bytes = [0, 0];
    for round in 0..ROUNDS {
        // One after the other, so that both meet the same disturbances.
        for declares in [false, true] {
            let path = folder.path().join(format!("{round}-{declares}.db"));
            let experiment = Dialogues { study: study.clone(), declares };
            let go = |mode| {
                timed(|| execute_at(&experiment, Arc::new(study.clone()), 0, &path, mode, 64)).1
            };
            took[usize::from(declares)].push(go(Mode::Record));
            took[2 + usize::from(declares)].push(go(Mode::Replay));
            bytes[usize::from(declares)] = std::fs::metadata(&path).unwrap().len();
        }
    }
    let exchanges = (DIALOGUES * TURNS) as usize;
    let [without, with, replayed_without, replayed_with] =
        took.map(|took| rate(exchanges, middle(took)));
    let figure = |what: &str, with: f64, without: f64| {
        let (ours, bare) = (format!("{with:.0}/s"), format!("without: {without:.0}/s"));
        row(
            &format!("{what} with declarations, dialogues of 100 turns"),
            &ours,
            &bare,
            with / without,
        );
    };
    figure("exchanges recorded", with, without);
    figure("exchanges replayed", replayed_with, replayed_without);
    let [without, with] = bytes.map(|bytes| bytes as f64 / exchanges as f64);
    row(
        "bytes an exchange with declarations",
        &format!("{with:.0}"),
        &format!("without: {without:.0}"),
        with / without,
    );
}

/// The median of some durations.
fn middle(mut took: Vec<Duration>) -> Duration {
    took.sort_unstable();
    took[took.len() / 2]
}

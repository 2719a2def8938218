//! Two versions of a parser side by side: the recorded decisions, and those that another version, or
//! a parser file, makes about the same answers.

use retold::char_boundary::floor;
use retold::check::{Change, CheckError, DecisionCheck, DecisionPart, DecisionSide, check};
use retold::decide::{Again, Choices, ParserParams, RegisteredParser, Selection};
use retold::escaping::{inert_lines, printable};
use retold_study::parser_file::FileDecision;
use serde::Serialize;
use serde_json::Value;

use super::{PageReply, RunPageRequest};
use crate::error::PageError;
use crate::job::JobState;
use crate::query::part;
use crate::runs::Notice;

/// Changes on one page.
const MOST: usize = 50;

/// The most of an answer that is shown beside a change, in bytes. Its page has all of it.
const LONGEST_ANSWER: usize = 1_500;

#[derive(Serialize, Default)]
struct CheckPage {
    /// What decides again: `latest`, `name@version`, or the name of a parser file.
    to: String,
    /// What can be chosen.
    versions: Vec<ParserVersion>,
    /// While the check is running: how many answers it has decided about.
    compared: Option<u64>,
    parser_from: Vec<String>,
    parser_to: Vec<String>,
    decisions: u64,
    flipped: usize,
    altered: usize,
    new: usize,
    methods: Vec<Methods>,
    /// The largest number of decisions with a pair of methods.
    most: u64,
    changes: Vec<ChangedDecision>,
    next: Option<String>,
    first: Option<String>,
    /// The decision from which one came here, if it does not change.
    unchanged: Option<u64>,
}

#[derive(Serialize)]
struct ParserVersion {
    name: String,
    query: String,
    chosen: bool,
}

/// Decisions by method then and now.
#[derive(Serialize)]
struct Methods {
    from: String,
    to: String,
    count: u64,
    same: bool,
    /// The address of these decisions: in the timeline, or among the changes if the method is another one.
    href: String,
}

/// A decision that changes.
#[derive(Serialize)]
struct ChangedDecision {
    seq: u64,
    call: String,
    sample: u32,
    href: String,
    flips: bool,
    parts: Vec<&'static str>,
    /// The text of the answer, cut.
    answer: String,
    /// How many bytes of it are not shown.
    answer_cut: usize,
    from: DecisionPair,
    to: DecisionPair,
}

#[derive(Serialize)]
struct DecisionPair {
    method: String,
    value: String,
    reasoning: Option<String>,
    warnings: Vec<String>,
    verdict: Option<&'static str>,
}

/// The keys of its query.
pub(super) const KEYS: &[&str] = &["to", "after", "then", "now"];

pub(super) fn page(mut of: RunPageRequest<'_>) -> Result<PageReply, PageError> {
    let query = &of.asked.query.clone();
    let to = query.text("to")?.unwrap_or_else(|| "latest".to_owned());
    let after = query.parse::<u64>("after")?.unwrap_or(0);
    let parsers = of.asked.site.studies.parsers().clone();
    let is_file = of.asked.site.parser_file(&to).is_some();
    if to != "latest" && !is_file {
        if to.starts_with("file:") {
            return Err(PageError::BadRequest(unknown_file(&of, &to)));
        }
        parsers.resolve(&to).map_err(|error| PageError::BadRequest(error.to_string()))?;
    }
    let (site, run, named) = (of.asked.site.clone(), of.head.run, to.clone());
    let key = (run, of.head.head.seq, to.clone());
    let stand = of.asked.site.checks.stand(key, move |progress| {
        let mut reader = site.reader()?;
        let parsers = site.studies.parsers();
        let file = site.parser_file(&named);
        let mut named = match named.as_str() {
            "latest" => None,
            _ if file.is_some() => None,
            name => Some(RegisteredParser::new(parsers, name)?),
        };
        let by = match (&mut named, file) {
            (Some(parser), _) => Again::By(parser),
            (None, Some(file)) => Again::Chosen(file),
            (None, None) => Again::Latest,
        };
        let params = ParserParams::default();
        let choice = Selection {
            by,
            params: &params,
            only: None,
            choices: Choices::First,
            name: file.and_then(FileDecision::name),
            parsers,
        };
        let mut done = 0;
        let checked = check::<CheckError>(reader.as_mut(), run, choice, |_, _| {
            done += 1;
            progress.at(done);
            Ok(())
        });
        Ok(checked?)
    });
    let version = |name: String| ParserVersion {
        query: query.with(&[("to", Some(&name)), ("after", None)]),
        chosen: name == to,
        name,
    };
    let latest = std::iter::once("latest".to_owned());
    let files: Vec<String> = of.asked.site.parser_files().map(str::to_owned).collect();
    // Those that can be chosen whatever decided before.
    let always: Vec<ParserVersion> = latest.chain(files.clone()).map(version).collect();
    let versions = if files.is_empty() { Vec::new() } else { always };
    let mut data = CheckPage { to: to.clone(), versions, ..CheckPage::default() };
    let title = "Parsers then and now".to_owned();
    let checked = match stand {
        JobState::Running(done) => {
            data.compared = Some(done);
            return of.page("check", title, true, data);
        }
        JobState::Failed(why) => {
            let notices =
                vec![Notice::warning(format!("The answers cannot be parsed again: {why}"))];
            return of.page_with("check", title, false, notices, data);
        }
        JobState::Done(checked) => checked,
    };
    let names: std::collections::BTreeSet<&str> =
        checked.parser_from.iter().filter_map(|from| from.split('@').next()).collect();
    let known = parsers.all().filter(|(name, _)| names.contains(name));
    let latest = std::iter::once("latest".to_owned());
    data.versions = latest
        .chain(known.map(|(name, version)| format!("{name}@{version}")))
        .chain(files)
        .map(version)
        .collect();
    let DecisionCheck {
        parser_from, parser_to, decisions, new, flipped, altered, by_method, ..
    } = &*checked;
    let mut changes: Vec<(&Change, bool)> = flipped.iter().map(|change| (change, true)).collect();
    changes.extend(altered.iter().map(|change| (change, false)));
    changes.sort_by_key(|(change, _)| change.seq);
    let [then, now] = [query.text("then")?, query.text("now")?];
    let is =
        |method: &str, chosen: &Option<String>| chosen.as_deref().is_none_or(|it| it == method);
    changes.retain(|(change, _)| is(&change.from.method, &then) && is(&change.to.method, &now));
    let from = changes.partition_point(|(change, _)| change.seq.0 <= after);
    let shown = changes.get(from..(from + MOST).min(changes.len())).unwrap_or(&[]);
    for (change, flips) in shown {
        data.changes.push(shown_change(&mut of, change, *flips)?);
    }
    let last = data.changes.last().map(|change| change.seq.to_string());
    let has_more = from + shown.len() < changes.len();
    data.next = last.filter(|_| has_more).map(|last| query.with(&[("after", Some(&last))]));
    data.first = (after > 0).then(|| query.with(&[("after", None)]));
    let asked = (after > 0).then_some(after + 1);
    data.unchanged = asked.filter(|seq| data.changes.first().is_none_or(|first| first.seq != *seq));
    let (of_run, query) = (&of, &query);
    let pairs = by_method.iter().flat_map(|(from, to)| {
        to.iter().map(move |(to, count)| Methods {
            from: from.clone(),
            to: to.clone(),
            count: *count,
            same: from == to,
            href: match from == to {
                true => of_run.href(&format!("?method={}#h-timeline", part(from))),
                false => {
                    let (then, now) = (Some(from.as_str()), Some(to.as_str()));
                    query.with(&[("then", then), ("now", now), ("after", None)])
                }
            },
        })
    });
    data.methods = pairs.collect();
    data.methods.sort_by_key(|methods| std::cmp::Reverse(methods.count));
    data.most = data.methods.first().map_or(1, |methods| methods.count);
    (data.parser_from, data.parser_to) = (parser_from.clone(), parser_to.clone());
    (data.decisions, data.new) = (*decisions, new.len());
    (data.flipped, data.altered) = (flipped.len(), altered.len());
    of.page("check", title, false, data)
}

/// Why a parser file cannot be used, and what can.
fn unknown_file(of: &RunPageRequest<'_>, name: &str) -> String {
    let files: Vec<&str> = of.asked.site.parser_files().collect();
    let there = match files.as_slice() {
        [] => "it was started without parser files".to_owned(),
        files => format!("it was started with {}", files.join(", ")),
    };
    format!(
        "this server has no parser file {}: {there}; name it with `retold serve --parsers FILE`",
        printable(name, 100)
    )
}

fn shown_change(
    of: &mut RunPageRequest<'_>,
    change: &Change,
    flips: bool,
) -> Result<ChangedDecision, PageError> {
    let seq = change.seq;
    let answer = of.event(seq)?.cause;
    let answer = answer.map(|answer| of.event(answer)).transpose()?;
    let content = answer.and_then(|answer| answer.content);
    let text = content.as_ref().map_or("", |content| content.text());
    let end = floor(text, LONGEST_ANSWER);
    Ok(ChangedDecision {
        answer: inert_lines(&text[..end]),
        answer_cut: text.len() - end,
        seq: seq.0,
        call: change.call.to_string(),
        sample: change.sample,
        href: of.href(&format!("/exchange/{seq}#decision")),
        flips,
        parts: change.parts.iter().map(|part: &DecisionPart| part.as_str()).collect(),
        from: decision_pair(&change.from),
        to: decision_pair(&change.to),
    })
}

fn decision_pair(side: &DecisionSide) -> DecisionPair {
    let value = match &side.value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    DecisionPair {
        method: side.method.clone(),
        value: printable(&value, 600),
        reasoning: side.reasoning.as_ref().map(|text| printable(text, 600)),
        warnings: side.warnings.clone(),
        verdict: side.verdict,
    }
}

//! How a decision came about: back to its prompt, and to everything that the prompt was made from.

use std::collections::BTreeMap;

use retold::audit::{
    Audit, AuditedFact, DeclaredSources, MadeFrom, Origin, PromptRelation, Target, audit,
};
use retold::event::Event;
use retold::id::Seq;
use serde::Serialize;

use super::accepted::AcceptedView;
use super::{PageReply, RunPageRequest};
use crate::error::PageError;
use retold::char_boundary::floor;
use retold::escaping::{excerpt, inert_lines};
use retold::event::{fact_name, fact_text};

/// The most sources of one prompt in the graph, and in the list.
const MOST_DRAWN: usize = 14;
const MOST_LISTED: usize = 200;

/// The most earlier prompts that are listed.
const MOST_EARLIER: usize = 40;

/// The most turns of what was read, and the longest of them, in bytes.
const MOST_TURNS: usize = 100;
const LONGEST_TURN: usize = 16 << 10;

/// The size of a node, and the room between nodes, in pixels.
const WIDTH: usize = 250;
const HEIGHT: usize = 52;
const GAP: usize = 14;
const ACROSS: usize = 80;

#[derive(Serialize)]
struct ProvenancePage {
    call: String,
    sample: u32,
    question: u64,
    exchange: String,
    /// What was read, in order: the earlier answers that are declared to be in the prompt, or else its messages.
    turns: Vec<ReadTurn>,
    /// How many turns are not shown.
    more_turns: usize,
    answer: Option<ReadTurn>,
    /// The decision of the run itself, and the method that found it.
    decision: Option<(String, String)>,
    /// The declared sources of the prompt, with those of earlier prompts.
    prompts: Vec<ProvenancePrompt>,
    /// True if the run keeps the sources of its prompts.
    declared: bool,
    complete: bool,
    /// How many earlier prompts are not listed.
    more: usize,
    /// The facts that follow.
    facts: Vec<FollowingFact>,
    /// Texts of the run that are in the prompt word for word.
    same_text: Vec<SameText>,
    /// The decisions that were accepted since and are in force.
    accepted: Vec<AcceptedView>,
    graph: Graph,
}

/// A text that was read, or the answer to all of them.
#[derive(Serialize)]
struct ReadTurn {
    /// The call that it is the answer to, or the role of the message.
    who: String,
    text: String,
    /// How many bytes of it are not shown.
    cut: usize,
    href: String,
}

#[derive(Serialize)]
struct ProvenancePrompt {
    call: String,
    sample: u32,
    /// `itself`, `within` or `behind`.
    part: &'static str,
    question: u64,
    href: String,
    from: Vec<ProvenanceNode>,
    more: usize,
}

/// Something that a prompt was made from: a card in the graph and a line of the list.
#[derive(Debug, Clone, Serialize)]
struct ProvenanceNode {
    /// `decision`, `fact`, `prompt`, `answer` or `other`.
    kind: &'static str,
    title: String,
    text: String,
    seq: u64,
    /// Its own provenance, or its page.
    href: String,
}

/// A fact that follows, and what else it rests on.
#[derive(Serialize)]
struct FollowingFact {
    node: ProvenanceNode,
    also: Vec<ProvenanceNode>,
    /// How much more it rests on.
    more: usize,
}

#[derive(Serialize)]
struct SameText {
    role: String,
    text: String,
    declared: bool,
    sources: usize,
    of: usize,
    prompts: usize,
    looked_at: usize,
    from: Vec<ProvenanceNode>,
}

#[derive(Serialize)]
struct Graph {
    width: usize,
    height: usize,
    cards: Vec<Card>,
    edges: Vec<Edge>,
    /// Sources that are not drawn.
    left_out: usize,
}

#[derive(Serialize)]
struct Card {
    x: usize,
    y: usize,
    #[serde(flatten)]
    node: ProvenanceNode,
    here: bool,
}

#[derive(Serialize)]
struct Edge {
    x1: usize,
    y1: usize,
    x2: usize,
    y2: usize,
    middle: usize,
}

pub(super) fn page(mut of: RunPageRequest<'_>, seq: Seq) -> Result<PageReply, PageError> {
    let run = of.head.run;
    let parsers = of.asked.site.studies.parsers();
    let audit = audit(of.reader.as_mut(), run, &Target::Seq(seq), parsers)?;
    let Audit { call, sample, question, declared, .. } = &audit;
    let exchange = of.href(&format!("/exchange/{}", question.seq));
    let mut facts = Vec::new();
    for AuditedFact { fact, also } in &audit.facts {
        let node = fact_node(&of, fact.seq, &fact.event.fact);
        let listed = also.iter().take(MOST_DRAWN);
        let listed = listed.map(|it| origin_node(&mut of, it)).collect::<Result<Vec<_>, _>>()?;
        facts.push(FollowingFact { node, more: also.len() - listed.len(), also: listed });
    }
    let (mut prompts, mut more) = (Vec::new(), 0);
    let (is_declared, complete) = match declared {
        DeclaredSources::NotKept => (false, true),
        DeclaredSources::Kept { prompts: all, complete, .. } => {
            let mut earlier = 0;
            for made in all {
                if made.part == PromptRelation::Behind {
                    earlier += 1;
                }
                if earlier > MOST_EARLIER {
                    more += 1;
                    continue;
                }
                prompts.push(prompt_of(&mut of, made)?);
            }
            (true, *complete)
        }
    };
    let (turns, more_turns) = read_turns(&mut of, &audit)?;
    let answer = audit.answer.as_ref().map(|answer| {
        ReadTurn::new("answer", text_of(&answer.event), format!("{exchange}#answer"))
    });
    let decision = audit.decision.as_ref().map(|made| {
        let value = excerpt(&made.event.details.value.to_string(), 600);
        (value, made.event.by.method.clone())
    });
    let decisions = of.call_decisions()?;
    let accepted = of.accepted(&decisions, call, *sample)?;
    let graph = graph(&of, &audit, &prompts, &facts);
    let mut same_text = Vec::new();
    for found in audit.same_text.iter().take(50) {
        let from = found.origins.iter().take(10);
        same_text.push(SameText {
            role: found.role.clone(),
            text: excerpt(&found.text, 160),
            declared: found.declared,
            sources: found.origins.len(),
            of: found.of as usize,
            prompts: found.prompts as usize,
            looked_at: found.looked_at as usize,
            from: from.map(|origin| origin_node(&mut of, origin)).collect::<Result<_, _>>()?,
        });
    }
    let title = format!("Why {call}#{sample}");
    let data = ProvenancePage {
        call: call.to_string(),
        sample: *sample,
        question: question.seq.0,
        exchange,
        turns,
        more_turns,
        answer,
        decision,
        prompts,
        declared: is_declared,
        complete,
        more,
        facts,
        same_text,
        accepted,
        graph,
    };
    of.page("provenance", title, false, data)
}

fn prompt_of(of: &mut RunPageRequest<'_>, made: &MadeFrom) -> Result<ProvenancePrompt, PageError> {
    let from = made.from.iter().take(MOST_LISTED);
    let from = from.map(|origin| origin_node(of, origin)).collect::<Result<Vec<_>, _>>()?;
    Ok(ProvenancePrompt {
        call: made.call.to_string(),
        sample: made.sample,
        part: match made.part {
            PromptRelation::Itself => "itself",
            PromptRelation::Within => "within",
            PromptRelation::Behind => "behind",
        },
        question: made.question.seq.0,
        href: of.href(&format!("/chain/{}", made.question.seq)),
        more: made.from.len() - from.len(),
        from,
    })
}

fn fact_node(of: &RunPageRequest<'_>, seq: Seq, fact: &serde_json::Value) -> ProvenanceNode {
    ProvenanceNode {
        kind: "fact",
        title: fact_name(fact).map_or_else(|| "fact".to_owned(), |name| excerpt(name, 40)),
        text: excerpt(&fact_text(fact), 200),
        seq: seq.0,
        href: of.href(&format!("/event/{seq}")),
    }
}

fn origin_node(of: &mut RunPageRequest<'_>, origin: &Origin) -> Result<ProvenanceNode, PageError> {
    Ok(match origin {
        Origin::Decision { call, sample, answer, decision, .. } => {
            let seq = decision.as_ref().map_or(answer.seq, |decision| decision.seq);
            let stored = of.event(seq)?;
            let (kind, text) = match stored.event() {
                Ok(Event::DecisionMade(made)) => {
                    let value = excerpt(&made.details.value.to_string(), 120);
                    ("decision", format!("{value} by {}", made.by.method))
                }
                // Nobody decided about it: what a tool gave, for example.
                _ => (
                    "answer",
                    stored.content.map_or_else(String::new, |it| excerpt(it.text(), 120)),
                ),
            };
            let href = of.href(&format!("/chain/{}", answer.seq));
            ProvenanceNode { kind, title: format!("{call}#{sample}"), text, seq: seq.0, href }
        }
        Origin::Fact { fact, .. } => fact_node(of, fact.seq, &fact.event),
        Origin::Question { call, sample, question } => ProvenanceNode {
            kind: "prompt",
            title: format!("{call}#{sample}"),
            text: "and all that its prompt was made from".to_owned(),
            seq: question.seq.0,
            href: of.href(&format!("/chain/{}", question.seq)),
        },
        Origin::Draws { start } => ProvenanceNode {
            kind: "other",
            title: "the draws of the run".to_owned(),
            text: "from the seed that the run began with".to_owned(),
            seq: start.seq.0,
            href: of.href(&format!("/event/{}", start.seq)),
        },
        Origin::Other { event, seq } => ProvenanceNode {
            kind: "other",
            title: event.as_ref().map_or_else(|| "nothing".to_owned(), |link| link.event.clone()),
            text: "not a source of prompts".to_owned(),
            seq: seq.0,
            href: of.href(&format!("/event/{seq}")),
        },
    })
}

/// Three columns: the sources of the prompt; prompt, answer and decision; the facts that follow.
fn graph(
    of: &RunPageRequest<'_>,
    audit: &Audit,
    prompts: &[ProvenancePrompt],
    facts: &[FollowingFact],
) -> Graph {
    let question = audit.question.seq;
    let page = |anchor: &str| of.href(&format!("/exchange/{question}{anchor}"));
    let mut middle = vec![ProvenanceNode {
        kind: "prompt",
        title: format!("{}#{}", audit.call, audit.sample),
        text: audit
            .request
            .messages()
            .last()
            .map_or_else(String::new, |(_, text)| excerpt(text, 120)),
        seq: question.0,
        href: page("#prompt"),
    }];
    if let Some(answer) = &audit.answer {
        let text = excerpt_of(text_of(&answer.event));
        let (title, href) = ("answer".to_owned(), page("#answer"));
        middle.push(ProvenanceNode { kind: "answer", title, text, seq: answer.seq.0, href });
    }
    if let Some(decision) = &audit.decision {
        middle.push(ProvenanceNode {
            kind: "decision",
            title: format!("decision by {}", decision.event.by.method),
            text: excerpt(&decision.event.details.value.to_string(), 120),
            seq: decision.seq.0,
            href: page("#decision"),
        });
    }
    let mut sources: BTreeMap<u64, ProvenanceNode> = BTreeMap::new();
    for prompt in prompts.iter().filter(|prompt| prompt.part != "behind") {
        sources.extend(prompt.from.iter().map(|node| (node.seq, node.clone())));
    }
    let left_out = sources.len().saturating_sub(MOST_DRAWN);
    let sources: Vec<ProvenanceNode> = sources.into_values().take(MOST_DRAWN).collect();
    let facts: Vec<ProvenanceNode> =
        facts.iter().take(MOST_DRAWN).map(|it| it.node.clone()).collect();
    let tallest = sources.len().max(middle.len()).max(facts.len()).max(1);
    let height = tallest * (HEIGHT + GAP) + GAP;
    let mut cards = Vec::new();
    let place = |nodes: Vec<ProvenanceNode>, column: usize, here: bool, cards: &mut Vec<Card>| {
        let top = GAP;
        let at: Vec<(usize, usize)> = (0..nodes.len())
            .map(|row| (GAP + column * (WIDTH + ACROSS), top + row * (HEIGHT + GAP)))
            .collect();
        cards.extend(nodes.into_iter().zip(&at).map(|(node, (x, y))| Card {
            x: *x,
            y: *y,
            node,
            here,
        }));
        at
    };
    let left = place(sources, 0, false, &mut cards);
    let own = place(middle, 1, true, &mut cards);
    let right = place(facts, 2, false, &mut cards);
    let mut edges = Vec::new();
    let mut join = |from: (usize, usize), to: (usize, usize)| {
        let (x1, y1) = (from.0 + WIDTH, from.1 + HEIGHT / 2);
        let (x2, y2) = (to.0, to.1 + HEIGHT / 2);
        edges.push(Edge { x1, y1, x2, y2, middle: (x1 + x2) / 2 });
    };
    if let Some(prompt) = own.first() {
        left.iter().for_each(|source| join(*source, *prompt));
    }
    if let Some(decision) = own.last() {
        right.iter().for_each(|fact| join(*decision, *fact));
    }
    for pair in own.windows(2) {
        if let [above, below] = pair {
            let x = above.0 + WIDTH / 2;
            edges.push(Edge { x1: x, y1: above.1 + HEIGHT, x2: x, y2: below.1, middle: x });
        }
    }
    let columns = if right.is_empty() { 2 } else { 3 };
    Graph { width: columns * (WIDTH + ACROSS) - ACROSS + 2 * GAP, height, cards, edges, left_out }
}

/// The text of an answer.
fn text_of(event: &Event) -> &str {
    match event {
        Event::ResponseReceived(received) => received.content.text(),
        Event::AnswerReused(reused) => reused.content.text(),
        _ => "",
    }
}

impl ReadTurn {
    fn new(who: &str, text: &str, href: String) -> Self {
        let end = floor(text, LONGEST_TURN);
        let shown = inert_lines(&text[..end]);
        ReadTurn { who: who.to_owned(), text: shown, cut: text.len() - end, href }
    }
}

/// What was read, and how many turns of it are left out: the last are the nearest to the answer.
fn read_turns(
    of: &mut RunPageRequest<'_>,
    audit: &Audit,
) -> Result<(Vec<ReadTurn>, usize), PageError> {
    let made = match &audit.declared {
        DeclaredSources::Kept { prompts, .. } => prompts.as_slice(),
        DeclaredSources::NotKept => &[],
    };
    let mut answers: BTreeMap<Seq, String> = BTreeMap::new();
    let made = made.iter().filter(|made| made.part != PromptRelation::Behind);
    for origin in made.flat_map(|made| &made.from) {
        if let Origin::Decision { call, sample, answer, .. } = origin {
            answers.insert(answer.seq, format!("{call}#{sample}"));
        }
    }
    let page = of.href(&format!("/exchange/{}#prompt", audit.question.seq));
    let messages = audit.request.messages();
    let all = if answers.is_empty() { messages.len() } else { answers.len() };
    let left_out = all.saturating_sub(MOST_TURNS);
    if answers.is_empty() {
        let shown = messages.iter().skip(left_out);
        let turn = |(role, text): &(String, String)| ReadTurn::new(role, text, page.clone());
        return Ok((shown.map(turn).collect(), left_out));
    }
    let mut turns = Vec::new();
    for (seq, call) in answers.into_iter().skip(left_out) {
        let content = of.event(seq)?.content;
        let text = content.as_ref().map_or("", |content| content.text());
        let href = of.href(&format!("/exchange/{seq}"));
        turns.push(ReadTurn::new(&call, text, href));
    }
    Ok((turns, left_out))
}

fn excerpt_of(text: &str) -> String {
    excerpt(&text.chars().take(1_000).collect::<String>(), 120)
}

//! The values of markers, as described in [`super::markers`].

use serde_json::Value;

use super::bounds::{after_fence, broken_off, json_start, line_length, opening};
use super::items::{self, And};
use super::model::Narrative;
use super::names::{Thing, names, one};
use super::scan::{Mark, Marker};
use super::story::Before;
use super::suggested::{
    BAR, actions_from_lines, actions_from_text, actions_from_value, actions_in_quotes, entries,
    starts_with_entry,
};
use super::words;
use retold::parse::json_repair;

/// How far a value may extend, and the story's text before it.
pub(super) struct Region {
    pub(super) limit: usize,
    pub(super) json: usize,
    pub(super) before: Before,
}

/// Where the story continues after a value, and whether that is in the middle of a sentence.
pub(super) struct ValueEnd {
    pub(super) end: usize,
    pub(super) sentence_continues: bool,
    /// The part of the value that remains in the story, if the story does not continue there.
    pub(super) kept: Option<String>,
}

impl From<usize> for ValueEnd {
    fn from(end: usize) -> Self {
        ValueEnd { end, sentence_continues: false, kept: None }
    }
}

/// Reads values into a narrative.
pub(super) struct ValueReader<'a> {
    pub(super) text: &'a str,
    pub(super) narrative: &'a mut Narrative,
    pub(super) warnings: &'a mut Vec<String>,
}

impl<'a> ValueReader<'a> {
    /// Reads the value of a marker.
    pub(super) fn value(&mut self, mark: &Mark, region: &Region) -> ValueEnd {
        match mark.marker {
            Marker::Location | Marker::Combat => self.name(mark, region),
            Marker::Acquired | Marker::Removed => self.items(mark, region),
            Marker::Suggested => self.actions(mark, region).into(),
        }
    }

    /// The text on the marker's line, and whether it is part of prose.
    fn line(&self, mark: &Mark, region: &Region) -> (&'a str, bool) {
        let rest = self.rest(mark, region);
        let line = rest.get(..line_length(rest)).unwrap_or("");
        if let Some(end) = mark.closers.iter().filter_map(|c| items::closer(line, *c)).min() {
            return (line.get(..end).unwrap_or(""), false);
        }
        let behind = line.get(words::sentence(line).1..).unwrap_or("").trim_start();
        // `Juniper Flats, pop. 40` is one name.
        let is_part = |c: char| c.is_lowercase() || c.is_numeric();
        let sentence_continues = !behind.is_empty() && !behind.starts_with(is_part);
        (line, region.before != Before::Nothing || sentence_continues)
    }

    fn name(&mut self, mark: &Mark, region: &Region) -> ValueEnd {
        let is_place = mark.marker == Marker::Location;
        if let Some(open) = json_start(self.rest(mark, region)) {
            let (value, end) = self.array(mark.value + open, region);
            let thing = if is_place { Thing::Place } else { Thing::Opponent };
            let end = after_fence(self.text, mark.value, open, end);
            let name = one(&value, thing);
            let kept = name.clone().filter(|_| region.before == Before::Preposition);
            self.set_name(mark.marker, name);
            return ValueEnd { kept, ..end.into() };
        }
        let (line, is_prose) = self.line(mark, region);
        let below = self
            .below(mark, region)
            .filter(|(line, _)| words::name(line, is_place).is_some_and(|end| end == line.len()));
        let (name, taken) = if let Some((line, end)) = below {
            (items::name(line), end.into())
        } else if words::is_one_of(words::first(line), &words::SUBJECTS)
            && line.trim().contains(' ')
        {
            (None, mark.value.into())
        } else if let Some(wrapped) = wrapped_text(line).filter(|_| is_prose) {
            (
                items::name(wrapped.0),
                ValueEnd { end: mark.value + wrapped.1, sentence_continues: true, kept: None },
            )
        } else if is_prose {
            name_in_prose(line, mark, region.before)
        } else {
            let name = items::name(line);
            let mut taken: ValueEnd = (mark.value + line.len()).into();
            taken.kept = name.clone().filter(|_| region.before == Before::Preposition);
            (name, taken)
        };
        if name.is_none() && taken.end == mark.value && !line.trim().is_empty() {
            self.warnings.push(sentence_after(mark.marker));
        }
        self.set_name(mark.marker, name);
        taken
    }

    fn set_name(&mut self, marker: Marker, name: Option<String>) {
        let slot = match marker {
            Marker::Location => &mut self.narrative.location,
            _ => &mut self.narrative.opponent,
        };
        if name.is_some() {
            *slot = name;
        }
    }

    /// The text between a marker and the next one.
    fn rest(&self, mark: &Mark, region: &Region) -> &'a str {
        self.text.get(mark.value..region.limit).unwrap_or("")
    }

    /// The line below a marker that is alone on its line, and where it ends, if it can be the
    /// value: it begins with a capital letter, does not end a sentence, and nothing follows it
    /// directly.
    fn below(&self, mark: &Mark, region: &Region) -> Option<(&'a str, usize)> {
        let rest = self.text.get(mark.value..region.limit)?;
        let (own, behind) = rest.split_once('\n').filter(|_| mark.heads_line)?;
        let line = behind.get(..line_length(behind))?;
        let after = behind.get(line.len()..)?;
        let end = region.limit - after.len();
        let after = after.strip_prefix('\r').unwrap_or(after);
        let after = after.strip_prefix('\n').unwrap_or(after);
        let bare = line.trim();
        let is_last = after.get(..line_length(after))?.trim().is_empty();
        let is_value = own.trim().is_empty()
            && is_last
            && bare.starts_with(|c: char| c.is_uppercase() || c == '*')
            && !bare.contains([':', '"', '“', '.', '!', '?', '…']);
        is_value.then_some((bare, end))
    }

    fn items(&mut self, mark: &Mark, region: &Region) -> ValueEnd {
        let (items, taken) = self.list(mark, region);
        match mark.marker {
            Marker::Acquired => self.narrative.acquired_items.extend(items),
            _ => self.narrative.removed_items.extend(items),
        }
        taken
    }

    fn list(&mut self, mark: &Mark, region: &Region) -> (Vec<String>, ValueEnd) {
        let start = mark.value;
        let rest = self.rest(mark, region);
        if let Some(open) = json_start(rest) {
            let (value, end) = self.array(start + open, region);
            let end = after_fence(self.text, start, open, end);
            return (names(&value, Thing::Item), end.into());
        }
        let open = opening(rest);
        let inner = rest.get(open..).unwrap_or("");
        if inner.starts_with('[') {
            let line = line_length(inner);
            let is_inline = region.before != Before::Nothing;
            let close = items::closing(inner).filter(|close| *close < line || !is_inline);
            if close.is_none() {
                self.warnings.push("a list of items is not closed".to_owned());
            }
            let words = inner.get(1..close.unwrap_or(line)).unwrap_or("");
            let end = start + open + close.map_or(line, |close| close + 1);
            let end = after_fence(self.text, start, open, end);
            return (items::split(words, And::Ends), end.into());
        }
        let (line, is_prose) = self.line(mark, region);
        let bare = line.trim();
        let below = self.below(mark, region);
        let below = below.filter(|(line, _)| line.contains(',') && !words::is_sentence(line));
        if let Some((line, end)) = below {
            return (items::split(line, And::Closes), end.into());
        }
        if starts_entries(bare) {
            let (entries, end) = entries(rest);
            return (entries.into_iter().filter_map(items::name).collect(), (start + end).into());
        }
        if is_prose {
            return self.list_in_prose(mark, line.len(), region);
        }
        let is_cried = bare.starts_with(char::is_lowercase) && bare.ends_with(['!', '?']);
        if is_cried || words::is_one_of(words::first(line), &words::SUBJECTS) {
            self.warnings.push(sentence_after(mark.marker));
            return (Vec::new(), start.into());
        }
        let mut taken: ValueEnd = (start + line.len()).into();
        taken.kept = Some(bare.to_owned()).filter(|_| region.before == Before::Preposition);
        (items::split(line, And::Closes), taken)
    }

    fn list_in_prose(
        &mut self,
        mark: &Mark,
        length: usize,
        region: &Region,
    ) -> (Vec<String>, ValueEnd) {
        let (start, before) = (mark.value, region.before);
        let line = self.text.get(start..start + length).unwrap_or("");
        let (stop, behind) = words::sentence(line);
        let sentence = line.get(..stop).unwrap_or("");
        let cut = words::list(sentence);
        // The sentence continues with the next marker.
        let leads_on = cut == length && start + length == region.limit;
        let before_next = sentence.get(..cut).filter(|_| leads_on).and_then(words::before_next);
        let cut = before_next.unwrap_or(cut);
        let list = sentence.get(..cut).unwrap_or("");
        let is_question = line.get(stop..).is_some_and(|t| t.starts_with('?'));
        let continues = before == Before::Part && list.trim_start().starts_with(char::is_lowercase);
        if continues || is_question || words::is_sentence(list) {
            // A sentence that continues after an empty marker is not worth a warning.
            let is_odd = words::is_one_of(words::first(list), &words::SUBJECTS);
            if !continues || is_odd || list.contains(',') {
                self.warnings.push(sentence_after(mark.marker));
            }
            return (Vec::new(), start.into());
        }
        let taken = match before {
            Before::Preposition => start.into(),
            _ if cut < stop => ValueEnd { end: start + cut, sentence_continues: true, kept: None },
            Before::Part => (start + stop).into(),
            Before::Nothing | Before::Sentence => (start + behind).into(),
        };
        (items::split(list, And::Separates), taken)
    }

    fn actions(&mut self, mark: &Mark, region: &Region) -> usize {
        let start = mark.value;
        let rest = self.rest(mark, region);
        let open = opening(rest);
        let inner = rest.get(open..).unwrap_or("");
        if let Some((actions, length)) = actions_in_quotes(inner) {
            self.narrative.suggested_actions.extend(actions);
            return after_fence(self.text, start, open, start + open + length);
        }
        if inner.starts_with(['[', '{']) {
            let mut end = start + open;
            loop {
                let (value, behind) = self.array(end, region);
                let actions = actions_from_value(&value, self.warnings);
                self.narrative.suggested_actions.extend(actions);
                // Objects may follow each other without an array around them.
                let next = self.text.get(behind..region.json).unwrap_or("");
                let other = next.trim_start().trim_start_matches(',').trim_start();
                let is_over = behind <= end || !value.is_object() || !other.starts_with('{');
                end = behind;
                if is_over {
                    break;
                }
                end += next.len() - other.len();
            }
            return after_fence(self.text, start, open, end);
        }
        let (line, _) = self.line(mark, region);
        let trimmed = line.trim();
        if starts_entries(trimmed) {
            let (actions, end) = actions_from_lines(rest);
            self.narrative.suggested_actions.extend(actions);
            return start + end;
        }
        let is_odd = trimmed.starts_with(char::is_lowercase) && !trimmed.contains(BAR);
        if region.before != Before::Nothing || is_odd {
            if region.before != Before::Part {
                self.warnings.push(sentence_after(mark.marker));
            }
            return start;
        }
        let end = start + line.len();
        self.narrative.suggested_actions.extend(actions_from_text(trimmed));
        end
    }

    /// The JSON array or object at `open`, and where it ends.
    fn array(&mut self, open: usize, region: &Region) -> (Value, usize) {
        let known = self.text.get(open..region.limit).unwrap_or("");
        let end = broken_off(known).map_or(region.json, |length| open + length);
        let text = self.text.get(open..end).unwrap_or("");
        let Some(embedded) = json_repair::first(text) else {
            return (Value::Null, open);
        };
        self.warnings.extend(embedded.repairs.iter().map(|r| format!("JSON: {}", r.as_str())));
        (embedded.value, open + embedded.end)
    }
}

/// Whether only the entries of a list can follow, or they are on the same line.
fn starts_entries(line: &str) -> bool {
    line.is_empty() || starts_with_entry(line)
}

/// The warning for text that follows a marker and is not its value.
fn sentence_after(marker: Marker) -> String {
    let name = marker.name();
    format!("{name}: what follows reads like a sentence: it is no value, and stays in the story")
}

/// The name after a marker in prose, and where the story continues.
fn name_in_prose(line: &str, mark: &Mark, before: Before) -> (Option<String>, ValueEnd) {
    let (stop, behind) = words::sentence(line);
    let sentence = line.get(..stop).unwrap_or("");
    let start = mark.value;
    let Some(cut) = words::name(sentence, mark.marker == Marker::Location) else {
        return (None, start.into());
    };
    let name = items::name(sentence.get(..cut).unwrap_or(""));
    let rest = sentence.get(cut..).unwrap_or("").trim_start();
    let continues = sentence.get(..cut).is_some_and(|t| t.ends_with([',', ';']))
        || rest.starts_with([',', ';', '-', '–', '—'])
        || words::is_one_of(words::first(rest), &words::CONJUNCTIONS);
    let taken = match before {
        Before::Preposition => start.into(),
        Before::Part => ValueEnd { end: start + cut, sentence_continues: true, kept: None },
        _ if rest.is_empty() => (start + behind).into(),
        _ if continues => ValueEnd { end: start + cut, sentence_continues: true, kept: None },
        // It is the subject of the sentence.
        _ => start.into(),
    };
    (name, taken)
}

/// The text in brackets, quotes or bold at the start of a line, and where that ends.
fn wrapped_text(line: &str) -> Option<(&str, usize)> {
    let bare = line.trim_start();
    let open = bare.chars().next()?;
    let close = match open {
        '[' => ']',
        '“' => '”',
        '"' | '*' | '`' => open,
        _ => return None,
    };
    let inner = bare.trim_start_matches(open);
    let length = inner.find(close)?;
    let rest = inner.get(length..)?.trim_start_matches(close);
    Some((inner.get(..length)?, line.len() - rest.len()))
}

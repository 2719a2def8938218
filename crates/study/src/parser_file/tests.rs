use serde_json::{Value, json};

use retold::parse::WholeAnswer;

use super::*;

fn file(text: &str) -> ParserFile {
    ParserFile::new(Path::new("parsers.yaml"), text).unwrap_or_else(|e| panic!("{e}"))
}

fn wrong(text: &str) -> String {
    match ParserFile::new(Path::new("parsers.yaml"), text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

/// The decision of a parser with these strategies, and its method.
fn decided(strategies: &str, text: &str) -> (Value, &'static str) {
    let file = file(&format!("parsers:\n  - name: p\n    strategies: [{strategies}]\n"));
    let (parsed, _) = file.get("p").unwrap().parse_any(text);
    (parsed.value, parsed.method)
}

fn value(strategies: &str, text: &str) -> Value {
    decided(strategies, text).0
}

#[test]
fn each_place_is_searched() {
    let answer =
        "I think <Stance kind=\"x\"> agree </stance>.\n{\"n\": [4, \"5\"]}\nRating: 6 \n\n";
    assert_eq!(decided("{tag: stance}", answer), (json!("agree"), "stance_tag"));
    assert_eq!(decided("{json: 'n[0]'}", answer), (json!(4), "json"));
    assert_eq!(decided("{regex: 'Rating: (\\d)'}", answer), (json!("6"), "regex"));
    assert_eq!(decided("{regex: 'R\\w+'}", answer), (json!("Rating"), "regex"));
    assert_eq!(decided("{last_line: true}", answer), (json!("Rating: 6"), "last_line"));
    assert_eq!(decided("{whole_text: true}", " x "), (json!("x"), "whole_text"));
    assert_eq!(decided("{}", " x "), (json!("x"), "whole_text"));
    assert_eq!(decided("{tag: other}", answer), (Value::Null, "default"));
    assert_eq!(decided("{}", " \n"), (Value::Null, "default"));
}

/// The arguments of a tool's calls, at a path, as any other JSON; the tool's name has to fit.
#[test]
fn arguments_of_tool_calls_are_searched() {
    let call = |name: &str, arguments: Value| json!({"id": "c", "function": {"name": name, "arguments": arguments}});
    let decided = |strategies: &str, calls: Value| {
        let file = file(&format!("parsers:\n  - name: p\n    strategies: [{strategies}]\n"));
        let extra = serde_json::Map::from_iter([("tool_calls".to_owned(), calls)]);
        let answer = WholeAnswer { text: "no", finish_reason: None, extra: Some(&extra) };
        let (parsed, _) = file.get("p").unwrap().parse_whole_any(answer);
        (parsed.value, parsed.method, parsed.warnings.len())
    };
    let vote = "{tool: vote, json: choice, one_of: [yes, no]}";
    let calls = json!([
        call("other", json!("{\"choice\": \"no\"}")),
        call("vote", json!("{\"choice\": \"Yes\"}"))
    ]);
    assert_eq!(decided(vote, calls.clone()), (json!("yes"), "vote_call_one_of", 0));
    assert_eq!(decided("{tool: vote}", calls), (json!({"choice": "Yes"}), "vote_call", 0));
    assert_eq!(
        decided(vote, json!([call("vote", json!({"choice": "no"}))])),
        (json!("no"), "vote_call_one_of", 0)
    );
    let (value, _, warnings) = decided(vote, json!([call("vote", json!("{choice: 'no',}"))]));
    assert!(value == "no" && warnings > 0);
    for nothing in
        [json!([]), json!("x"), json!([1, {"function": 1}]), json!([call("vote", json!("{}"))])]
    {
        assert_eq!(decided(vote, nothing), (Value::Null, "default", 0));
    }
    let two = json!([
        call("vote", json!("{\"choice\": \"yes\"}")),
        call("vote", json!("{\"choice\": \"no\"}"))
    ]);
    assert_eq!(decided(vote, two.clone()).0, Value::Null);
    assert_eq!(decided("{tool: vote, json: choice, pick: last}", two).0, json!("no"));
}

/// Anthropic's calls are parts of the content, and those of older models of OpenAI a part of the message.
#[test]
fn calls_of_all_apis_are_searched() {
    let file = file("parsers:\n  - name: p\n    strategies: [{tool: vote, json: choice}]\n");
    let decided = |part: &str, value: Value| {
        let extra = serde_json::Map::from_iter([(part.to_owned(), value)]);
        let answer = WholeAnswer { text: "", finish_reason: None, extra: Some(&extra) };
        file.get("p").unwrap().parse_whole_any(answer).0.value
    };
    let parts = json!([{"type": "text", "text_at": [0, 0]},
        {"type": "tool_use", "id": "t", "name": "vote", "input": {"choice": "yes"}}]);
    assert_eq!(decided("content_parts", parts), json!("yes"));
    let call = json!({"name": "vote", "arguments": "{\"choice\": \"no\"}"});
    assert_eq!(decided("function_call", call), json!("no"));
    let custom = json!([{"type": "custom", "id": "c", "custom": {"name": "vote", "input": "{\"choice\": 3}"}}]);
    assert_eq!(decided("tool_calls", custom), json!(3));
}

#[test]
fn the_first_strategy_that_finds_a_value_decides() {
    let chain = "{tag: a, number: {from: 1, to: 7}}, {last_line: true, number: {from: 1, to: 7}}, {method: any, number: {}, pick: last}";
    assert_eq!(decided(chain, "<a>3</a>\n5"), (json!(3), "a_tag_number"));
    assert_eq!(decided(chain, "<a>9</a>\n5"), (json!(5), "last_line_number"));
    assert_eq!(decided(chain, "<a>9</a>\n-11.5"), (json!(-11.5), "any"));
    assert_eq!(decided(chain, "nothing"), (Value::Null, "default"));
}

/// What a strategy makes of a text: its value, and how many warnings there are.
fn warned(strategies: &str, text: &str) -> (Value, Vec<String>) {
    let file = file(&format!("parsers:\n  - name: p\n    strategies: [{strategies}]\n"));
    let (parsed, _) = file.get("p").unwrap().parse_any(text);
    (parsed.value, parsed.warnings)
}

/// Which spellings there are is tested beside `numerals`; here, what a strategy makes of them.
#[test]
fn a_number_is_read_as_it_is_written_or_not_at_all() {
    let first = "{number: {}, pick: first}";
    for (text, number) in [
        ("I give 7.", json!(7)),
        ("about \u{2212}3.50 points", json!(-3.5)),
        ("1e3", json!(1000)),
        ("1 234 567", json!(1234567)),
        ("1'000", json!(1000)),
        ("-$12", json!(-12)),
        (".5", json!(0.5)),
        ("range 3-5", json!(3)),
        ("007", json!(7)),
        ("3 or 4,5", json!(3)),
    ] {
        assert_eq!(warned(first, text), (number, Vec::new()), "{text}");
    }
    for (text, doubtful) in [("3,5", "3,5"), ("12,34 of 20", "12,34"), ("10^6 or 7", "10^6")] {
        let due = format!("{doubtful:?} is not certainly one number, so no number was read there");
        assert_eq!(warned(first, text), (Value::Null, vec![due]), "{text}");
    }
    for none in ["p_0007", "GPT4", "4th", "x"] {
        assert_eq!(warned(first, none), (Value::Null, Vec::new()), "{none}");
    }
    assert_eq!(value("{number: {}, pick: last}", "range 3-5"), json!(5));
    // Several different numbers in range are not guessed about, nor is one beside a doubtful one.
    assert_eq!(value("{number: {from: 1, to: 7}}", "2 of 10, so 2"), json!(2));
    assert_eq!(value("{number: {from: 1, to: 7}}", "2 or 3"), Value::Null);
    assert_eq!(value("{number: {whole: true}}", "2.5 and 4"), json!(4));
    assert_eq!(value("{number: {}}", "3,5 of 20"), Value::Null);
    assert_eq!(value("{number: {}, pick: last}", "20, so 3,5"), Value::Null);
    // The next strategy may still find one, and the decision says what was passed over.
    let (value, warnings) =
        warned("{last_line: true, number: {}}, {tag: n, number: {}}", "<n>4</n>\n3,5");
    assert_eq!((value, warnings.len()), (json!(4), 1));
}

#[test]
fn options_are_whole_words_and_the_longest_counts() {
    let options =
        "one_of: [agree, Disagree, strongly agree, \"n/a\", no, no-one, can, B, don't know]";
    for (text, option) in [
        ("I DISAGREE.", "Disagree"),
        ("I Strongly Agree with it", "strongly agree"),
        ("Strongly\nagree", "strongly agree"),
        ("strongly \u{a0} agree", "strongly agree"),
        ("strongly-agree", "strongly agree"),
        ("strongly-\nagree", "strongly agree"),
        ("**strongly** agree", "strongly agree"),
        ("*Strongly*\n`agree`", "strongly agree"),
        ("N/A", "n/a"),
        ("No-one", "no-one"),
        ("no one", "no-one"),
        ("no\u{2011}one", "no-one"),
        ("no - one of them", "no"),
        ("_B_", "B"),
        ("__B__, (B)", "B"),
        ("I don\u{2019}t know", "don't know"),
        ("'no'", "no"),
        ("We can.", "can"),
    ] {
        assert_eq!(value(&format!("{{{options}}}"), text), json!(option), "{text}");
    }
    for none in [
        "disagreement", "agree or disagree", "agreeable", "non-agree", "no-win", "can't", "x_B_y",
        "B-side", "",
    ] {
        assert_eq!(value(&format!("{{{options}}}"), none), Value::Null, "{none}");
    }
    let last = value(&format!("{{{options}, pick: last}}"), "agree? No: disagree");
    assert_eq!(last, json!("Disagree"));
    // An option that ends in the last line may begin before it; what ends before it does not count.
    for (text, option) in [
        ("I strongly\nagree", json!("strongly agree")),
        ("disagree\nagree \n\n", json!("agree")),
        ("no\n\nstrongly\n\nagree", json!("strongly agree")),
        ("agree\nor so", Value::Null),
        ("agree", json!("agree")),
    ] {
        assert_eq!(value(&format!("{{last_line: true, {options}}}"), text), option, "{text}");
    }
}

#[test]
fn json_is_found_in_prose_and_repaired() {
    let parsed = |strategies: &str, text: &str| {
        let text_of_file = format!("parsers: [{{name: p, strategies: [{strategies}]}}]");
        file(&text_of_file).get("p").unwrap().parse_any(text).0
    };
    let sure = parsed("{json: choice, one_of: [yes, no]}", "Well: {\"choice\": \"Yes\"}");
    assert_eq!((sure.value, sure.warnings.len()), (json!("yes"), 0));
    let broken =
        parsed("{json: rating, number: {from: 1, to: 7}}", "{'rating': '6 of 7 points?', }");
    assert_eq!(broken.value, Value::Null, "6 and 7 are two numbers");
    let broken = parsed("{json: rating, number: {from: 1, to: 7}}", "{'rating': 6, ");
    assert_eq!(broken.value, json!(6));
    assert!(!broken.warnings.is_empty());
    let several = "{\"a\": 1} {\"a\": 2}";
    assert_eq!(value("{json: a}", several), Value::Null);
    assert_eq!(value("{json: a, pick: last}", several), json!(2));
    assert_eq!(value("{json: a}", "{\"a\": null}"), Value::Null);
    // What was cut off, or is not certainly one number, is nothing.
    for text in ["{\"n\":", "{\"n\": \"", "{\"n\": , \"m\": 5}", "{\"n\": 3,5}", "{'n': '3,5'}"] {
        assert_eq!(value("{json: n, number: {}}", text), Value::Null, "{text}");
    }
    assert_eq!(value("{json: n}", "{\"n\":"), Value::Null);
    assert_eq!(value("{json: n, number: {}}", "{\"n\": 1,000}"), json!(1000));
    assert_eq!(value("{json: n, number: {}}", "{\"n\": \u{2212}3}"), json!(-3));
    let eaten = parsed("{json: a}", "{\"a\": \"$\\frac{1}{2}$\"}");
    assert_eq!(eaten.value, json!("$\u{c}rac{1}{2}$"));
    let due = "an escape in the JSON was read as a control character, but may be LaTeX's \\frac";
    assert_eq!(eaten.warnings, [due]);
}

/// Tags and fences are stepped over; what is never closed is left out, with a warning.
#[test]
fn a_part_of_the_answer_is_searched() {
    let last = "last_line: true";
    for (strategy, text, due) in [
        ("after: think, number: {}", "<think>3 or 4</think> 5", json!(5)),
        ("after: think, number: {}", "3 or 4</think> 5", json!(5)),
        ("after: think, number: {}", "<think>1</think> 2 <THINK>3</THINK > 5", json!(5)),
        ("after: think, number: {}", "5", json!(5)),
        ("after: </think>, number: {}", "3</think> 5", json!(5)),
        ("after: think, number: {}", "<think>1</think> 5 <think>hm 6", json!(5)),
        ("after: think, number: {}", "It is 5 <think> 6", Value::Null),
        ("outside: think, number: {}", "4 <think>3</think>4", json!(4)),
        ("outside: think, number: {}", "4 <think>3 <think>2</think> 1</think> 4", json!(4)),
        ("outside: think, number: {}", "3</think>4", json!(4)),
        ("outside: think, number: {}", "It is 4 <think> or 3", json!(4)),
        ("outside: [think, '```'], number: {}", "<think>1</think>```\n2\n``` 3", json!(3)),
        ("after: '```', number: {}", "1 ```json\n2\n```\n3", json!(3)),
        ("after: '```', number: {}", "```\n2", Value::Null),
        ("outside: '```', last_line: true", "yes\n```\nno\n```\n", json!("yes")),
        ("outside: '```', last_line: true", "yes\n````\nno\n````", json!("yes")),
        ("after: think, outside: '```', whole_text: true", "x</think> a\n```b```", json!("a")),
        ("after: think, tag: n", "<n>1</n></think><n>2</n>", json!("2")),
        ("after: think, json: n", "{\"n\": 1}</think>{\"n\": 2}", json!(2)),
    ] {
        assert_eq!(value(&format!("{{{strategy}}}"), text), due, "{strategy}: {text}");
    }
    let method = |strategy: &str| decided(&format!("{{{strategy}}}"), "a</think>x").1;
    assert_eq!(method("after: think"), "after_think_whole_text");
    assert_eq!(method(&format!("after: think, {last}")), "after_think_last_line");
    assert_eq!(
        method("outside: [think, '```'], one_of: [x]"),
        "outside_think_outside_fence_one_of"
    );
    let open = warned("{after: note, number: {}}", "It is 5 <note> 6").1;
    assert_eq!(open, ["<note> is never closed, so nothing in it was read"]);
    let open = warned("{outside: '```', number: {}}", "```\n6").1;
    assert_eq!(open, ["a code fence is never closed, so nothing in it was read"]);
}

/// An answer that ended by its limit says so, whether or not something was found in it.
#[test]
fn an_answer_that_ended_by_its_limit_says_so() {
    let file = file("parsers: [{name: p, strategies: [{tag: n}, {number: {}}]}]");
    for (text, reason, due) in [
        ("It is 5", Some("length"), true),
        ("<n>5</n>", Some("max_tokens"), true),
        ("It is", Some("length"), true),
        ("It is 5", Some("stop"), false),
        ("It is 5", None, false),
    ] {
        let answer = WholeAnswer { text, finish_reason: reason, extra: None };
        let (parsed, _) = file.get("p").unwrap().parse_whole_any(answer);
        let warning = "the answer ended by its length limit".to_owned();
        assert_eq!(parsed.warnings, if due { vec![warning] } else { Vec::new() }, "{text}");
    }
}

/// An answer that was cut off in its reasoning has no answer.
#[test]
fn a_reasoning_that_is_never_closed_is_not_read() {
    let cut = "<think>\nMaybe {\"n\": 5}, <n>5</n> or\n5";
    for strategy in
        ["json: n", "tag: n", "number: {}", "last_line: true", "one_of: ['5']", "regex: 5"]
    {
        let (value, warnings) = warned(&format!("{{{strategy}}}"), cut);
        let due = "the reasoning is never closed, so nothing in it was read";
        assert_eq!((value, warnings), (Value::Null, vec![due.to_owned()]), "{strategy}");
    }
    assert_eq!(value("{}", cut), json!(cut));
    for (text, due) in [
        ("{\"n\": 4}\n<thinking>{\"n\": 5}", json!(4)),
        ("<think>x</think>{\"n\": 4}", json!(4)),
        ("The <think> tag: {\"n\": 4}", json!(4)),
        ("<Think>{\"n\": 5}", Value::Null),
    ] {
        assert_eq!(value("{json: n}", text), due, "{text}");
    }
}

#[test]
fn a_parser_is_chosen_by_call_model_and_prompt() {
    let file = file(
        "parsers:
  - {name: a, for: {call: 'judge/*', model: 'gpt-4*'}, strategies: [{}]}
  - {name: b, for: {prompt: '(?i)rate .* from 1'}, strategies: [{}]}
  - {name: c, for: {model: gemini-2}, strategies: [{}]}
",
    );
    let chosen = |call: &str, body: Value| {
        let request = Request::from_body(body).unwrap();
        let parser = file.decisions()[0].choose(&CallPath::new(call).unwrap(), &request)?;
        Some(parser.spec().name.clone().into_owned())
    };
    let body = |model: &str, text: &str| json!({"model": model, "messages": [{"role": "user", "content": text}]});
    assert_eq!(chosen("judge/7/x", body("gpt-4o", "hi")).as_deref(), Some("a"));
    assert_eq!(chosen("judge/7", body("gpt-3", "Rate it from 1 to 7")).as_deref(), Some("b"));
    assert_eq!(chosen("other", body("gpt-4o", "hi")), None);
    let gemini = json!({"http": {"path": "/v1beta/models/gemini-2:generateContent"},
        "messages": [{"role": "user", "parts": [{"text": "hi"}]}]});
    assert_eq!(chosen("other", gemini).as_deref(), Some("c"));
}

#[test]
fn a_decision_names_the_file_that_made_it() {
    let text = "parsers: [{name: p, strategies: [{tag: a}]}]";
    let spec = file(text).get("p").unwrap().spec().clone();
    let hash = retold::id::PromptHash(hash_of(text.as_bytes())).to_string();
    assert_eq!(format!("{:08x}", spec.version), hash[..8]);
    let due = json!({"parser_file": {"blake3": hash, "file": "parsers.yaml", "parser": {"name": "p", "strategies": [{"tag": "a"}]}}});
    assert_eq!(spec.params, due);
    let other = file(&format!("{text} # changed")).get("p").unwrap().spec().clone();
    assert_ne!(other.version, spec.version);
}

#[test]
fn mistakes_are_explained_at_their_places() {
    let of = |strategy: &str| {
        format!(
            "parsers:\n  - name: p\n    strategies:\n      - whole_text: true\n      - {strategy}\n"
        )
    };
    let all = [
        wrong(""),
        wrong("parsers: []"),
        wrong("parsers:\n  - name: p\n"),
        wrong("parsers:\n  - name: p\n    strategies: []\n"),
        wrong("parsers:\n  - name: a b\n    strategies: [{}]\n"),
        wrong("parsers:\n  - name: p\n    strategies: [{}]\n  - name: p\n    strategies: [{}]\n"),
        wrong("parsers:\n  - name: p\n    for: {promt: x}\n    strategies: [{}]\n"),
        wrong("parsers:\n  - name: p\n    for: {prompt: '(x'}\n    strategies: [{}]\n"),
        wrong("parsers:\n  - name: p\n    for: {call: ''}\n    strategies: [{}]\n"),
        wrong(&of("{regex: '[a'}")),
        wrong(&of("{regex: '(?<!a)b'}")),
        wrong(&of("{regex: '(((\\w{100}){100}){100})'}")),
        wrong(&of(&format!("{{regex: '{}'}}", "a|".repeat(6000)))),
        wrong(&of("{regex: a, tag: b}")),
        wrong(&of("{tag: '<a>'}")),
        wrong(&of("{after: a tag}")),
        wrong(&of("{outside: []}")),
        wrong(&of("{outside: 7}")),
        wrong(&of("{after: think, tool: vote}")),
        wrong(&of("{json: 'a[*]'}")),
        wrong(&of("{last_line: false}")),
        wrong(&of("{number: {from: 7, to: 1}}")),
        wrong(&of("{number: {from: one}}")),
        wrong(&of("{number: {from: .nan}}")),
        wrong(&of("{one_of: []}")),
        wrong(&of("{one_of: [yes, ' no']}")),
        wrong(&of("{one_of: [yes, Yes]}")),
        wrong(&of("{one_of: [no one, no-one]}")),
        wrong(&of("{one_of: [_]}")),
        wrong(&of("{case: any}")),
        wrong(&of("{scale: {from: 1}}")),
        wrong(&of("{number: {decimal: semicolon}}")),
        wrong(&of("{one_of: [yes], number: {}}")),
        wrong(&of("{pick: any}")),
        wrong(&of("{method: default}")),
        wrong(&of("{whole_text: true}")),
    ];
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn hostile_files_are_refused_at_once() {
    let aliases: String =
        (1..30).map(|n| format!("a{n}: &a{n} [*a{}, *a{}]\n", n - 1, n - 1)).collect();
    let bomb = format!("a0: &a0 [x, x]\n{aliases}parsers: *a29\n");
    let deep = format!("parsers: {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!("parsers: [{}]", "{name: p, strategies: [{}]},".repeat(2000));
    for text in [bomb, deep, long, "\u{0}".to_owned(), "parsers: !!binary x".to_owned()] {
        let said = wrong(&text);
        assert!(said.starts_with("parsers.yaml:") && said.len() < 1000, "{said}");
    }
}

"""Functions that decide about recorded answers."""

import subprocess
from concurrent.futures import ProcessPoolExecutor

import openai
import polars
import pytest
import retold


@pytest.fixture
def study(log, model):
    """Twelve votes, of which the program read every third as `no`; the answers are numbered from 0."""
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log, name="votes") as run:
        for number in range(12):
            with run.call("vote", participant=f"p{number}", condition="treated" if number % 2 else "control"):
                client.chat.completions.create(model="m", messages=[{"role": "user", "content": f"yes or no, {number}?"}])
                run.decide("vote", "yes" if number % 3 else "no")
                run.decide("mood", "calm")
    return retold.open(log)


def is_yes(answer: retold.Answer) -> str | None:
    """Reads the number that is the answer's third word; nothing is found in the last one."""
    number = int(answer.split()[2])
    return None if number == 11 else "yes" if number % 3 else "maybe" if number == 3 else "no"


def in_force(log, run):
    """The run's own decisions by name, in force or not."""
    rows = log.decisions(run, recorded=True)
    return {(row["name"], row["in_force"]): sum(1 for other in rows if (other["name"], other["in_force"]) == (row["name"], row["in_force"])) for row in rows}


def test_flips_are_shown_with_their_answers(study):
    checked = study.run("votes").check(is_yes, name="vote@4")
    assert (checked.name, len(checked.decisions), checked.same, checked.new, checked.unread) == ("vote@4", 12, 10, 0, 1)
    assert [(flip.before, flip.after) for flip in checked.flips] == [("no", "maybe"), ("yes", None)]
    flip = checked.flips[0]
    assert flip.answer == "made-up answer 3 to yes or no, 3?"
    assert flip.answer.labels == {"participant": "p3", "condition": "treated"} and flip.answer.call == "vote/p3/treated"
    assert "'no' -> 'maybe'\n  'made-up answer 3 to yes or no, 3?'" in str(checked)
    # Nothing was recorded.
    assert len(study.runs()) == 1


def test_accepted_decisions_take_the_place_of_those_with_the_same_name(study):
    run = study.run("votes").check(is_yes, name="vote@4").accept()
    assert in_force(study, "votes") == {("vote", False): 12, ("mood", True): 12}
    assert {(row["name"], row["accepted_in"]) for row in study.decisions("votes")} == {("mood", None), ("vote", run)}
    accepted = polars.DataFrame(study.decisions(run))
    assert accepted["parser"].unique().to_list() == ["function"] and accepted["parser_version"].unique().to_list() == ["4"]
    assert accepted.filter(polars.col("text") == "maybe")["participant"].to_list() == ["p3"]
    cited = {row["answer_seq"]: row["reused_from"] for row in study.exchanges(run)}
    answers = {row["answer_seq"] for row in study.exchanges("votes")}
    assert {int(cited[seq].split("/")[1]) for seq in accepted["answer_seq"]} == answers
    # The same decisions are not recorded twice, and are what others are compared with from now on.
    again = study.run("votes").check(is_yes, name="vote@4")
    assert (again.same, again.flips, again.accept()) == (12, [], run)


def test_another_name_stands_beside(study):
    checked = study.run("votes").check(len, name="length@1")
    assert (checked.new, checked.flips) == (12, [])
    run = checked.accept()
    assert in_force(study, "votes") == {("vote", True): 12, ("mood", True): 12}
    assert in_force(study, run) == {("length", True): 12}


def test_an_exception_is_a_failure_of_its_answer(study):
    def careless(answer: str) -> str:
        if "5" in answer:
            raise KeyError("no five")
        return "yes"

    checked = study.run("votes").check(careless, name="vote@5")
    assert [failure.answer.labels["participant"] for failure in checked.failures] == ["p5"]
    assert checked.failures[0].error == "KeyError: 'no five'" and "careless" in checked.failures[0].traceback
    assert "1 failed" in str(checked)
    with pytest.raises(retold.CheckError, match="1 of 12 answers.*no five"):
        checked.accept()
    checked.accept(without_failures=True)
    assert in_force(study, "votes") == {("vote", False): 11, ("vote", True): 1, ("mood", True): 12}


def test_a_value_that_json_cannot_hold_is_a_failure(study):
    checked = study.run("votes").check(lambda answer: {answer}, name="vote@5")
    assert len(checked.failures) == 12 and "not JSON serializable" in checked.failures[0].error
    assert len(study.run("votes").check(lambda answer: float("nan"), name="vote@5").failures) == 12


def test_a_decision_says_how_it_was_found(study):
    decision = retold.Decision("yes", method="last_word", reasoning="it says so", warnings=["odd"])
    run = study.run("votes").check(lambda answer: decision, name="vote@6").accept()
    row = study.decisions(run)[0]
    assert (row["method"], row["reasoning"], row["warnings"]) == ("last_word", "it says so", ["odd"])


def test_processes_decide_the_same(study):
    with ProcessPoolExecutor(2) as processes:
        by_processes = study.run("votes").check(is_yes, name="vote@4", executor=processes)
    assert by_processes == study.run("votes").check(is_yes, name="vote@4")
    assert by_processes.decisions[3][0].labels["participant"] == "p3"


def test_some_calls_alone(study):
    assert not study.run("votes").check(is_yes, name="vote@4", call="vot").decisions
    assert len(study.run("votes").check(is_yes, name="vote@4", call="vote").decisions) == 12


def test_a_name_without_a_version_is_the_first(study):
    assert study.run("votes").check(is_yes, name="vote").name == "vote@1"
    with pytest.raises(retold.CheckError, match="NAME@VERSION"):
        study.run("votes").check(is_yes, name="vote@new")
    with pytest.raises(retold.CheckError, match="no decisions"):
        study.run("votes").check(is_yes, name="vote@4", call="nothing").accept()
    with pytest.raises(ValueError, match="nobody"):
        study.run("nobody")


def test_labels_name_answers_by_their_sample_or_their_seq(log, model, tmp_path):
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1")
    with retold.record(log, name="same") as run:
        for number in range(2):
            with run.call("same"):
                client.chat.completions.create(model="m", messages=[{"role": "user", "content": f"question {number}"}])
    answers = retold.open(log).run("same").answers()
    assert len({(answer.call, answer.sample) for answer in answers}) == 2
    labels = tmp_path / "labels.csv"
    command = [retold._program.program(), "--log", log, "score", "label", "same", "--by", "ada", "--from", str(labels)]
    for rows in (
        ["call,sample,value", *(f"{answer.call},{answer.sample},{answer.split()[2]}" for answer in answers)],
        ["answer_seq,value", *(f"{answer.seq},{int(answer.split()[2]) + 1}" for answer in answers)],
    ):
        labels.write_text("\n".join(rows))
        subprocess.run(command, check=True, capture_output=True)
    by_run = [[row["value"] for row in retold.open(log).decisions(row["run"], recorded=True)] for row in retold.open(log).runs()][1:]
    assert by_run == [[0, 1], [1, 2]]

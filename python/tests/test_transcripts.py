"""Transcripts as Inspect Scout has them: its columns, and which exchanges make up a dialogue."""

import json
import subprocess

import openai
import pyarrow.parquet
import pyarrow.types
import pytest
import retold
from retold._program import program

# The columns of `transcripts_db_schema` of inspect-scout 0.6 and their kinds. Another column is metadata.
SCOUT = {
    **dict.fromkeys(["transcript_id", "source_type", "source_id", "source_uri", "date", "task_set", "task_id"], "string"),
    **dict.fromkeys(["agent", "agent_args", "model", "model_options", "score", "score_explanation"], "string"),
    **dict.fromkeys(["error", "limit", "messages", "events", "timelines", "events_data"], "string"),
    **dict.fromkeys(["task_repeat", "message_count", "total_tokens"], "int64"),
    "success": "bool",
    "total_time": "double",
}


@pytest.fixture
def transcripts(log, model, tmp_path):
    """Two dialogues of three turns, interleaved, which begin alike, and another way in which one of them goes on."""
    client = openai.OpenAI(api_key="x", base_url=f"{model.url}/v1", max_retries=0)
    system = {"role": "system", "content": "Be brief."}

    def ask(messages):
        answer = client.chat.completions.create(model="m", messages=messages, temperature=0.5)
        return [*messages, {"role": "assistant", "content": answer.choices[0].message.content}]

    with retold.record(log, name="talks") as run:
        talks = {"Ada": [system], "Bob": [system]}
        for turn in range(3):
            for who, talk in talks.items():
                with run.call("talk", participant=who, agent="taken"):
                    talks[who] = ask([*talk, {"role": "user", "content": f"turn {turn}"}])
                    if turn == 2:
                        run.decide("vote", {"yes": turn})
        # Another way to go on from where Ada has gone on already.
        with run.call("other", participant="Ada"):
            ask([*talks["Ada"][:-2], {"role": "user", "content": "Or not?"}])
    file = tmp_path / "transcripts" / "talks.parquet"
    file.parent.mkdir()
    subprocess.run([program(), "--log", log, "export", "talks", file, "--as", "inspect-scout"], check=True)
    return file


def test_transcripts_have_the_columns_of_scout(transcripts):
    schema = pyarrow.parquet.read_schema(transcripts)
    kinds = {field.name: str(field.type) for field in schema}
    assert {name: kind for name, kind in kinds.items() if name in SCOUT and kind != SCOUT[name]} == {}
    assert set(kinds) - set(SCOUT) == {"answer_hash", "participant", "label_agent"}


def test_a_dialogue_is_one_transcript(transcripts):
    rows = pyarrow.parquet.read_table(transcripts).to_pylist()
    said = [[message["content"] for message in json.loads(row["messages"])] for row in rows]
    assert [(row["participant"], row["message_count"]) for row in rows] == [("Ada", 7), ("Bob", 7), ("Ada", 7)]
    for row, texts in zip(rows[:2], said):
        assert texts[0] == "Be brief." and [text for text in texts if text.startswith("turn")] == ["turn 0", "turn 1", "turn 2"]
        assert json.loads(row["score"]) == {"vote": {"yes": 2}}
        assert (row["total_tokens"], row["agent"], row["label_agent"]) == (9, row["participant"], "taken")
        assert json.loads(row["model_options"]) == {"temperature": 0.5}
    # Each dialogue has its own answers, although their questions are the same.
    assert not set(said[0][2::2]) & set(said[1][2::2])
    assert said[2][:5] == said[0][:5] and said[2][5] == "Or not?"
    assert len({row["transcript_id"] for row in rows}) == 3
    assert {json.loads(rows[0]["messages"])[at]["role"] for at in (2, 4, 6)} == {"assistant"}

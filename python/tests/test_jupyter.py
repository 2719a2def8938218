"""A notebook: clients made at import, a block that is entered in one cell and left in another, and asyncio at top level."""

from __future__ import annotations

import nbclient
import nbformat
import pytest
from traitlets.config import Config

IMPORTS = """
import asyncio
import openai
import retold

client, async_client = openai.OpenAI(), openai.AsyncOpenAI()

def messages(text):
    return [{"role": "user", "content": text}]

async def ask(text):
    answer = await async_client.chat.completions.create(model="m", messages=messages(text))
    return answer.choices[0].message.content
"""
SYNC = 'print(client.chat.completions.create(model="m", messages=messages("sync")).choices[0].message.content)'
ASYNC = 'print(await ask("async"))'
GATHER = 'print(await asyncio.gather(*[ask(f"gathered {n}") for n in range(3)]))'


def execute(notebook: nbformat.NotebookNode) -> None:
    """Executes the cells of a notebook, which get their outputs."""
    # By sockets of the file system: a port that is chosen may be taken before the kernel listens on it.
    config = Config({"KernelManager": {"transport": "ipc"}})
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", config=config).execute()


def outputs(*cells: str) -> list[str]:
    """What each cell of a notebook prints."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    execute(notebook)
    return ["".join(output.get("text", "") for output in cell.outputs) for cell in notebook.cells]


def study(how: str) -> list[str]:
    return outputs(
        IMPORTS,
        f'block = retold.{how}("study.db")\nrun = block.__enter__()',
        SYNC,
        ASYNC,
        GATHER,
        "block.__exit__(None, None, None)",
        f'with retold.{how}("second.db"):\n    {ASYNC}',
        f'async with retold.{how}("third.db"):\n    {GATHER}',
    )


@pytest.fixture
def notebook(model, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    # A kernel's settings and history are the user's.
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "jupyter"))


def test_a_notebook_is_recorded_and_replayed(notebook, model):
    recorded = study("record")
    assert "made-up answer" in recorded[2] and recorded[4].count("made-up answer") == 3
    assert len(model.asked) == 9
    model.stop()
    assert study("replay") == recorded


def test_a_line_below_the_cell_counts_the_requests(notebook, model):
    block = 'with retold.record("study.db") as run:\n    for n in range(3):\n        await ask(str(n))'
    cells = [nbformat.v4.new_code_cell(cell) for cell in (IMPORTS, block, "print(run.id)", 'with retold.record("study.db"):\n    pass')]
    execute(nbformat.v4.new_notebook(cells=cells))
    (line,) = [output for output in cells[1].outputs if output.output_type == "display_data"]
    run = cells[2].outputs[0].text[:8]
    assert line.data["text/plain"] == f"retold: run {run}, requests: 3, 3 recorded and 0 replayed"
    # One that asks nothing has no line.
    assert cells[3].outputs == []


def test_a_changed_cell_fails_when_the_block_is_left(notebook, model):
    recorded = f'with retold.record("study.db"):\n    {ASYNC}'
    entered = 'block = retold.replay("study.db")\nrun = block.__enter__()'
    # The cell gets an error that names the difference; a cell that swallows it does not save the block.
    asked = 'try:\n    await ask("changed")\nexcept openai.OpenAIError as error:\n    print(error)'
    with pytest.raises(nbclient.exceptions.CellExecutionError) as error:
        outputs(IMPORTS, recorded, entered, asked, "block.__exit__(None, None, None)")
    said = str(error.value)
    assert "ReplayMismatch" in said and "changed" in said and "block.__exit__" in said
    assert len(model.asked) == 1

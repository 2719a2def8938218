"""A small eval with Inspect AI: four samples, each asked in two epochs, with a tool."""

import tempfile

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import tool


@tool
def weather():
    async def execute(topic: str) -> str:
        """The weather.

        Args:
            topic: Where.
        """
        return f"fine in {topic}"

    return execute


samples = [Sample(input=f"What about number {n}?", target="Answer 1", id=n) for n in range(4)]
task = Task(dataset=samples, solver=[system_message("Be short."), use_tools(weather()), generate()], scorer=includes())
(log,) = eval(task, model="openai/m", epochs=2, display="none", log_dir=tempfile.mkdtemp())
print(log.status, log.results.scores[0].metrics["accuracy"].value, log.stats.model_usage["openai/m"].total_tokens)
# Which epoch gets which answer is left to chance, so the lines are sorted.
texts = [(sample.id, sample.scores["includes"].value, [message.text for message in sample.messages]) for sample in log.samples]
print("\n".join(sorted(map(str, texts))))

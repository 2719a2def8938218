"""A village of citizens on a grid, by Mesa-LLM as it is: where they go and whom they ask is drawn, and all ask at the same time."""

import hashlib

import mesa
from mesa.discrete_space import OrthogonalMooreGrid
from mesa_llm.llm_agent import LLMAgent
from mesa_llm.parallel_stepping import enable_automatic_parallel_stepping
from mesa_llm.reasoning.cot import CoTReasoning

CITIZENS, STEPS = 8, 4


class Citizen(LLMAgent):
    def __init__(self, model):
        super().__init__(model=model, reasoning=CoTReasoning, llm_model="openai/gpt-4o-mini", system_prompt="You live in a village.")
        self.cell = model.random.choice(model.grid.all_cells.cells)
        self.wealth, self.said = int(model.rng.integers(1, 100)), ""

    async def astep(self):
        self.cell = self.cell.neighborhood.select_random_cell()
        other = self.model.random.choice(list(self.model.agents))
        prompt = f"You are at {self.cell.coordinate} with {self.wealth} coins. You meet {other.unique_id}. Before: {self.said}"
        answer = await self.llm.agenerate(prompt)
        self.said = answer.choices[0].message.content


class Village(mesa.Model):
    def __init__(self):
        super().__init__()
        self.grid = OrthogonalMooreGrid((10, 10), random=self.random)
        Citizen.create_agents(self, CITIZENS)

    def step(self):
        self.agents.shuffle_do("step")


def main():
    enable_automatic_parallel_stepping("asyncio")
    village = Village()
    for _ in range(STEPS):
        village.step()
    told = [(agent.unique_id, agent.cell.coordinate, agent.wealth, agent.said) for agent in village.agents]
    print(hashlib.sha256(str(told).encode()).hexdigest())


if __name__ == "__main__":
    main()

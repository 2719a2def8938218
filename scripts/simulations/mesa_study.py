"""A village of citizens on a grid, by Mesa as it is: where they go, whom they meet and what they own is drawn, and all ask at the same time."""

import asyncio
import hashlib

import mesa
import openai
from mesa.discrete_space import CellAgent, OrthogonalMooreGrid

CITIZENS, STEPS = 8, 5


class Citizen(CellAgent):
    def __init__(self, model):
        super().__init__(model)
        self.cell = model.random.choice(model.grid.all_cells.cells)
        self.wealth, self.said = int(model.rng.integers(1, 100)), ""

    async def step(self):
        self.cell = self.cell.neighborhood.select_random_cell()
        other = self.model.random.choice(list(self.model.agents))
        prompt = f"You are at {self.cell.coordinate} with {self.wealth} coins. You meet {other.unique_id}. Before: {self.said}"
        message = {"role": "user", "content": prompt}
        answer = await self.model.client.chat.completions.create(model="gpt-4o-mini", messages=[message])
        self.said = answer.choices[0].message.content


class Village(mesa.Model):
    def __init__(self):
        super().__init__()
        self.client = openai.AsyncOpenAI()
        self.grid = OrthogonalMooreGrid((10, 10), random=self.random)
        Citizen.create_agents(self, CITIZENS)

    async def run(self):
        for _ in range(STEPS):
            await asyncio.gather(*(agent.step() for agent in self.agents.shuffle()))


def main():
    village = Village()
    asyncio.run(village.run())
    told = [(agent.unique_id, agent.cell.coordinate, agent.wealth, agent.said) for agent in village.agents]
    print(hashlib.sha256(str(told).encode()).hexdigest())


if __name__ == "__main__":
    main()

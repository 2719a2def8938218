"""Three people in a village, by Concordia as it is: who acts is drawn, and so are their names here."""

import hashlib
import random

import numpy
from concordia.agents import entity_agent
from concordia.contrib.language_models.openai import gpt_model
from concordia.prefabs.entity import basic
from concordia.prefabs.game_master import dialogic, formative_memories_initializer
from concordia.prefabs.simulation import generic as simulation
from concordia.typing import prefab

# Theirs to mend: `list(set(components))` has the order of addresses in memory, so that of two components which read and write
# one memory, another comes first in each process. This keeps the order in which they were given.
entity_agent.set = dict.fromkeys

NAMES = ["Ada", "Bo", "Cy", "Dee", "Eli", "Fay", "Gus", "Hal", "Ida", "Jo"]


def embed(text):
    """The same text has the same place, here and in each other process."""
    return numpy.frombuffer(hashlib.blake2b(text.encode()).digest(), dtype=numpy.uint8).astype(float)


def main():
    people = random.sample(NAMES, 3)
    role = prefab.Role
    entity = lambda name: prefab.InstanceConfig(prefab="basic", role=role.ENTITY, params={"name": name, "goal": random.choice(["rest", "trade"])})
    config = prefab.Config(
        default_premise=f"{people[0]} has lost {numpy.random.randint(2, 99)} coins in the village.",
        default_max_steps=8,
        prefabs={
            "basic": basic.Entity(),
            "memories": formative_memories_initializer.GameMaster(),
            "talk": dialogic.GameMaster(),
        },
        instances=[
            *map(entity, people),
            prefab.InstanceConfig(
                prefab="memories",
                role=role.INITIALIZER,
                params={"name": "memories", "next_game_master_name": "talk", "shared_memories": ["The village has one well."]},
            ),
            prefab.InstanceConfig(
                prefab="talk",
                role=role.GAME_MASTER,
                params={"name": "talk", "next_game_master_name": "talk", "acting_order": "random", "can_terminate_simulation": False},
            ),
        ],
    )
    model = gpt_model.GptLanguageModel("gpt-4o-mini")
    log = simulation.Simulation(config=config, model=model, embedder=embed).play()
    print(hashlib.sha256(str([entry.summary for entry in log.entries]).encode()).hexdigest())


if __name__ == "__main__":
    main()

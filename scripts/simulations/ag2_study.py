"""A conversation of a group, by AG2 as it is: who speaks next is drawn."""

import hashlib

import autogen

PEOPLE, ROUNDS = ["ada", "bo", "cy", "dee", "eli"], 40


def main():
    config = autogen.LLMConfig({"api_type": "openai", "model": "gpt-4o-mini", "cache_seed": None, "price": [0, 0]})
    agent = lambda name: autogen.ConversableAgent(name, system_message=f"You are {name}.", llm_config=config, human_input_mode="NEVER")
    people = [agent(name) for name in PEOPLE]
    group = autogen.GroupChat(people, max_round=ROUNDS, speaker_selection_method="random")
    manager = autogen.GroupChatManager(group, llm_config=config, human_input_mode="NEVER")
    people[0].initiate_chat(manager, message="Shall the village dig a second well?", silent=True)
    print(hashlib.sha256(str([(it["name"], it["content"]) for it in group.messages]).encode()).hexdigest())


if __name__ == "__main__":
    main()

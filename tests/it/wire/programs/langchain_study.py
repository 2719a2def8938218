"""A study with LangChain: a chain, a batch, streams, tools, structured output, embeddings."""

import asyncio

from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel


class Colour(BaseModel):
    """A colour."""

    answer: str
    number: int


@tool
def weather(topic: str) -> str:
    """The weather."""
    return f"fine in {topic}"


MODEL = ChatOpenAI(model="m", temperature=1, max_retries=6)
CHAIN = ChatPromptTemplate.from_messages([("system", "Be short."), ("user", "Say {what}.")]) | MODEL | StrOutputParser()


async def together() -> None:
    print(await CHAIN.abatch([{"what": f"word {n}"} for n in range(6)]))
    print([chunk async for chunk in CHAIN.astream({"what": "a poem"})])


for _ in range(3):
    print(CHAIN.invoke({"what": "hello"}))
print(CHAIN.batch([{"what": f"number {n}"} for n in range(6)]))
print(list(CHAIN.stream({"what": "a story"})))
message = MODEL.bind_tools([weather]).invoke("How is the weather?")
print(message.tool_calls, message.usage_metadata)
results = [weather.invoke(call) for call in message.tool_calls]
print(MODEL.invoke([("user", "How is the weather?"), message, *results]).content)
print(MODEL.with_structured_output(Colour, method="json_schema").invoke("Name a colour."))
embeddings = OpenAIEmbeddings(model="m", check_embedding_ctx_length=False)
print(embeddings.embed_documents(["one", "two"]), embeddings.embed_query("one"))
asyncio.run(together())

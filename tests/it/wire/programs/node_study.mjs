// A study with OpenAI's SDK for Node: chat completions, streams, tools, responses, embeddings, many at once.
import OpenAI from "openai";

const client = new OpenAI({ maxRetries: 6 });
const question = [{ role: "user", content: "Name a colour." }];

for (let n = 0; n < 4; n++) {
  const answer = await client.chat.completions.create({ model: "m", temperature: 1, messages: question });
  console.log(answer.choices[0].message.content, answer.usage.total_tokens);
}
for (let n = 0; n < 3; n++) {
  const stream = await client.chat.completions.create({ model: "m", messages: question, stream: true });
  for await (const event of stream) console.log(JSON.stringify(event));
}
try {
  const messages = [{ role: "user", content: "break off" }];
  const stream = await client.chat.completions.create({ model: "m", messages, stream: true });
  for await (const event of stream) console.log(JSON.stringify(event));
} catch (error) {
  console.log(error.constructor.name);
}
const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } }];
const called = await client.chat.completions.create({ model: "m", messages: question, tools });
console.log(called.choices[0].message.tool_calls[0].function.arguments);
const response = await client.responses.create({ model: "m", input: "Name a colour." });
console.log(response.output_text, response.usage.total_tokens);
for await (const event of await client.responses.create({ model: "m", input: "Name a colour.", stream: true })) {
  console.log(JSON.stringify(event));
}
const vectors = await client.embeddings.create({ model: "m", input: ["one", "two"] });
console.log(JSON.stringify(vectors.data.map((vector) => vector.embedding)));
const one = (n) => client.chat.completions.create({ model: "m", messages: [{ role: "user", content: `Question ${n}` }] });
const answers = await Promise.all([...Array(8).keys()].map(one));
console.log(answers.map((answer) => answer.choices[0].message.content));

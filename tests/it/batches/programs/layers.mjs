// Asks in two layers, each at once: the second asks about the answers of the first.

import OpenAI from "openai";

const client = new OpenAI({ maxRetries: 0 });

async function ask(text) {
  const reply = await client.chat.completions.create({
    model: "gpt-5-mini",
    messages: [{ role: "user", content: text }],
  });
  return reply.choices[0].message.content;
}

const count = Number(process.env.COUNT ?? "40");
const first = await Promise.all(Array.from({ length: count }, (_, n) => ask(`Question ${n % (count - 3)}`)));
const texts = [...new Set(first)].sort().slice(0, 12);
const second = await Promise.all(texts.map((text) => ask(`What is ${text}?`)));
console.log(first.length, new Set(first).size, second.join(" "));

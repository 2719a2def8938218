import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";

// Made at import, as most programs do.
const openai = new OpenAI();
const anthropic = new Anthropic();

async function capital(country: string): Promise<string | null> {
  const messages = [{ role: "user" as const, content: `What is the capital of ${country}?` }];
  const answer = await openai.chat.completions.create({ model: "gpt-4o-mini", messages });
  return answer.choices[0].message.content;
}

test("a capital", async () => {
  expect(await capital("France")).toContain("France");
});

describe("samples", () => {
  test("equal prompts have answers of their own", async () => {
    expect(await capital("Spain")).not.toEqual(await capital("Spain"));
  });
});

test("a stream", async () => {
  const messages = [{ role: "user" as const, content: "Count." }];
  const stream = await openai.chat.completions.create({ model: "gpt-4o-mini", messages, stream: true });
  let text = "";
  for await (const event of stream) text += event.choices[0]?.delta.content ?? "";
  expect(text).toContain("Count.");
});

test("Claude", async () => {
  const messages = [{ role: "user" as const, content: "Name a colour." }];
  const answer = await anthropic.messages.create({ model: "claude-haiku-4-5", max_tokens: 9, messages });
  expect(answer.content[0]).toMatchObject({ type: "text", text: expect.stringContaining("colour") });
});

// The AI SDK, with any of its providers.
import { generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import * as scenes from "./scenes.mjs";

const declared = Object.fromEntries(
  ["weather", "wind"].map((name) => [
    name,
    tool({ description: name, inputSchema: z.object({ place: z.string() }), execute: ({ place }) => `fine in ${place}` }),
  ]),
);

// Plays the scenes with a model; `refused` is one that the API does not accept.
export async function play(model, refused) {
  const ask = async (prompt, more) => (await generateText({ model, prompt, maxRetries: 3, ...more })).text;
  await scenes.play({
    ask,
    tools: async () => {
      const steps = { model, prompt: scenes.WEATHER, tools: declared, stopWhen: stepCountIs(3) };
      const said = await generateText(steps);
      return [said.steps.map((step) => step.toolCalls.map(({ toolName, input }) => [toolName, input])), said.text];
    },
    stream: (prompt) => {
      const seen = (part) => part.text ?? (part.type === "error" ? `error ${part.error.name}` : part.type);
      return scenes.parts(streamText({ model, prompt, maxRetries: 3, onError() {} }).fullStream, seen);
    },
    object: async () => {
      const schema = z.object({ answer: z.string(), number: z.number() });
      return (await generateObject({ model, schema, prompt: "Name a colour as JSON." })).object;
    },
    timeout: () => ask(scenes.NEVER, { maxRetries: 0, abortSignal: AbortSignal.timeout(scenes.LIMIT) }),
    refused: () => ask(scenes.COLOUR, { maxRetries: 0, ...refused }),
  });
}

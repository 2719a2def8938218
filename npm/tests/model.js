// A server that answers as OpenAI and Anthropic do, made up and said so: each answer is another one.

import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

export async function model() {
  const asked = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request));
    asked.push(body);
    const content = `made-up answer ${asked.length} to ${body.messages.at(-1).content}`;
    const id = `answer-${asked.length}`;
    if (body.stream) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const chunk = { id, object: "chat.completion.chunk", created: 1, model: "made-up" };
      for (const word of content.split(/(?<= )/)) {
        const choices = [{ index: 0, delta: { content: word }, finish_reason: null }];
        response.write(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`);
      }
      const choices = [{ index: 0, delta: {}, finish_reason: "stop" }];
      return response.end(`data: ${JSON.stringify({ ...chunk, choices })}\n\ndata: [DONE]\n\n`);
    }
    response.writeHead(200, { "content-type": "application/json" });
    if (request.url.endsWith("/v1/messages")) {
      const usage = { input_tokens: 1, output_tokens: 2 };
      const message = { id, type: "message", role: "assistant", model: "made-up", stop_reason: "end_turn", usage };
      return response.end(JSON.stringify({ ...message, content: [{ type: "text", text: content }] }));
    }
    const choices = [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }];
    response.end(JSON.stringify({ id, object: "chat.completion", created: 1, model: "made-up", choices }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    asked,
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

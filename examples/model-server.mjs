// @ts-check
/**
 * Any server with an OpenAI-compatible address is a provider: here one on loopback that says back what it was told, in
 * place of vLLM or the like. Needs the package `@ai-sdk/openai-compatible` beside Wakechart.
 */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { createNodeRuntime } from 'wakechart/node';

const server = createServer((request, response) => void answer(request, response));

/**
 * Answers as such servers do: word by word, then what it took. @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function answer(request, response) {
  const { model, messages } =
    /** @type {{ readonly model: string, readonly messages: { readonly role: string, readonly content: string }[] }} */ (
      await json(request)
    );
  console.log(`the server is asked for ${model} at ${request.url}`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  /** @param {object} what */
  const send = (what) =>
    response.write(
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model, ...what })}\n\n`,
    );
  for (const word of `You said: ${messages.at(-1)?.content ?? ''}`.split(/(?<=\s)/))
    send({ choices: [{ index: 0, delta: { role: 'assistant', content: word }, finish_reason: null }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  send({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 6, total_tokens: 18 } });
  response.end('data: [DONE]\n\n');
}

server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());

const home = await mkdtemp(join(tmpdir(), 'wakechart-example-'));
await writeFile(
  join(home, 'providers.yaml'),
  `local: { backend: embedded, api: openai-chat, baseUrl: "http://127.0.0.1:${port}/v1", needsKey: false }\n`,
);
const runtime = await createNodeRuntime({ home });

try {
  await runtime.agents.create({
    agentId: 'echo',
    source: {
      frontmatter: { name: 'Echo', provider: 'local', model: 'parrot-7b', tools: [] },
      instructions: 'Say it back.',
    },
  });
  const { sessionId } = await runtime.sessions.create({ agentId: 'echo' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'hello over there' });

  // What the model says can be heard as it comes; the log has it once it is said.
  let pieces = 0;
  const { error } = await runtime.wake(sessionId, {
    onRunEvent: ({ stream }) => void (stream === 'assistant' && (pieces += 1)),
  });
  if (error !== undefined) throw new Error(error.message);
  console.log(`it came in ${pieces > 1 ? 'pieces' : 'one piece'}`);
  for await (const { type, data } of runtime.sessions.events(sessionId)) {
    if (type === 'agent.message') console.log(`agent: ${data.text}`);
    if (type === 'span.completed')
      console.log(`it took ${data.usage?.inputTokens} tokens to read and ${data.usage?.outputTokens} to say`);
  }
} finally {
  await runtime.shutdown();
  server.close();
  await rm(home, { recursive: true, force: true });
}

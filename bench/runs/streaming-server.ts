/**
 * A model server in a process of its own, so that its work is not in what is measured: it speaks Chat Completions and
 * says as many words as the model's name asks for.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** Words that are written to the socket at once. */
const WORDS_PER_WRITE = 20;

export interface StreamingServer {
  readonly baseUrl: string;
  close(): void;
}

export async function startStreamingServer(): Promise<StreamingServer> {
  const child = fork(fileURLToPath(import.meta.url), ['serve']);
  const [port] = (await once(child, 'message')) as [number];
  return { baseUrl: `http://127.0.0.1:${port}/v1`, close: () => void child.kill() };
}

function chunk(model: string, delta: object, more: object = {}): string {
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
}

function serve(): void {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const part of request) body += String(part);
  const { model } = JSON.parse(body) as { readonly model: string };
  const words = Number(model.split('-').at(-1));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let said = 0; said < words; said += WORDS_PER_WRITE) {
    const count = Math.min(WORDS_PER_WRITE, words - said);
    const text = Array.from({ length: count }, (_, index) => chunk(model, { content: ` word${said + index}` })).join(
      '',
    );
    if (!response.write(text)) await once(response, 'drain');
  }
  const end = {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model,
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: words, total_tokens: 10 + words },
  };
  response.end(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`);
}

if (process.argv[2] === 'serve') serve();

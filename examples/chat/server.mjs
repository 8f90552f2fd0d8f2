// @ts-check
/**
 * A chat in the browser with an agent that asks before it changes something: one handler for the API, `useChat` of the
 * AI SDK on the page. Usage: node examples/chat/server.mjs [--home DIR] [--port N] [--no-worker]
 *
 * Without a worker here, `wakechart worker --home DIR` in other processes wakes the sessions.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'vite';
import { createHttpHandler, toNodeListener } from 'wakechart/http';
import { createNodeRuntime } from 'wakechart/node';

const { values } = parseArgs({
  options: { home: { type: 'string' }, port: { type: 'string' }, 'no-worker': { type: 'boolean' } },
});
const home = values.home ?? (await mkdtemp(join(tmpdir(), 'wakechart-chat-')));

/** What a model would say, step by step: with a model of yours, name it in the agent's file instead. */
const script = {
  format: 'wakechart-script/1',
  steps: [
    {
      text: 'I write it down.',
      toolCalls: [{ name: 'write', input: { path: 'note.txt', content: 'Buy milk.\n' } }],
    },
    { text: 'That is settled.' },
    { text: 'Once upon a time', pauseMs: 3_000 },
    { text: 'The end.' },
  ],
};

const runtime = await createNodeRuntime({ home });
if (!(await runtime.agents.list()).some(({ agentId }) => agentId === 'noter')) {
  await runtime.agents.create({
    agentId: 'noter',
    source: {
      frontmatter: { name: 'Noter', provider: 'script', model: 'script.json', permission: 'ask', tools: ['write'] },
      instructions: 'Keep notes.',
    },
  });
  await writeFile(join(home, 'agents/noter/script.json'), JSON.stringify(script));
}
if (values['no-worker'] !== true) runtime.startWorker();

/** The user that the request comes from: a real server reads a signed cookie or a token. */
const USER = /(?:^|; )user=(?<user>\w+)/;
const api = toNodeListener(
  createHttpHandler(runtime, {
    basePath: '/agent',
    authorize(request) {
      const user = USER.exec(request.headers.get('cookie') ?? '')?.groups?.['user'];
      return user === undefined ? undefined : { subject: user };
    },
  }),
);

const page = await mkdtemp(join(tmpdir(), 'wakechart-page-'));
await build({
  root: fileURLToPath(new URL('page', import.meta.url)),
  logLevel: 'error',
  build: { outDir: page, emptyOutDir: true },
});

const TYPES = /** @type {Record<string, string>} */ ({
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
});

const server = createServer((request, response) => {
  if (request.url?.startsWith('/agent/')) api(request, response);
  else void serve(request, response);
});

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
async function serve(request, response) {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const file = /^\/assets\/[\w-]+\.(?:js|css)$/.test(pathname) ? pathname : '/index.html';
  response.setHeader('content-type', `${TYPES[extname(file)]}; charset=utf-8`);
  // No page of another site can send it along, so none can speak for the user.
  if (file === '/index.html') response.setHeader('set-cookie', 'user=ada; HttpOnly; SameSite=Strict; Path=/');
  response.end(await readFile(join(page, file)));
}

server.listen(Number(values.port ?? 0), '127.0.0.1', () => {
  const address = server.address();
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});

async function end() {
  server.close();
  server.closeAllConnections();
  await runtime.shutdown();
  await rm(page, { recursive: true });
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void end());

// @ts-check
/**
 * What a server does that has the handler in it, asked from outside as clients ask: shared by the test of docs/http.md
 * and by the check of the package under Next.
 */
import { strict as assert } from 'node:assert';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as ask } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** As the page says: streams of one subject, and bytes of a body. */
const MAX_STREAMS = 64;
const MAX_BODY_BYTES = 1024 * 1024;

const AGENT = `---
name: Noter
provider: script
model: script.json
permission: ask
tools: [write]
---

Keep notes.
`;

/** It asks before it writes, so that a turn waits for the client in its middle. */
const SCRIPT = {
  format: 'wakechart-script/1',
  steps: [
    { text: 'I write it down.', toolCalls: [{ name: 'write', input: { path: 'note.txt', content: 'Milk.' } }] },
    { text: 'That is settled.' },
  ],
};

/** What the page calls yours: who comes with which credentials. And no port is taken that others may have. */
const YOURS = `
import { Server } from 'node:net';
globalThis.userOf = async (credentials) => (credentials === null ? undefined : { id: credentials });
const { listen } = Server.prototype;
Server.prototype.listen = function (...given) {
  const isPort = typeof given[0] === 'number' || given[0]?.port !== undefined;
  if (!isPort) return listen.apply(this, given);
  this.once('listening', () => console.log('http://127.0.0.1:' + this.address().port));
  return listen.call(this, 0, '127.0.0.1');
};
`;

const PAGE = readFileSync(new URL('../docs/http.md', import.meta.url), 'utf8');

/** Writes a file as docs/http.md shows it. @param {string} folder @param {string} name */
export function writeFromPage(folder, name) {
  const [, code] = PAGE.split(`\n\`\`\`js file=${name}\n`);
  assert.ok(code, `docs/http.md shows no ${name}`);
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), code.slice(0, code.indexOf('```')));
}

/** Prepares a home with an agent, and what is loaded before the program. @param {string} folder */
export function prepareServer(folder) {
  const [home, yours] = [join(folder, 'home'), join(folder, 'yours.mjs')];
  mkdirSync(join(home, 'agents/noter'), { recursive: true });
  writeFileSync(join(home, 'agents/noter/agent.md'), AGENT);
  writeFileSync(join(home, 'agents/noter/script.json'), JSON.stringify(SCRIPT));
  writeFileSync(yours, YOURS);
  return { home, yours };
}

/** @param {string} at @param {string} path @param {Omit<RequestInit, 'headers'> & { readonly as?:
 * string | undefined, readonly headers?: Readonly<Record<string, string>> }} [init] */
const asked = (at, path, { as = 'ada', headers = {}, ...init } = {}) =>
  fetch(`${at}/agent${path}`, { ...init, headers: { authorization: as, ...headers } });

/** @param {string} at @param {string} path @param {unknown} body @param {string} [as] */
const posted = (at, path, body, as) =>
  asked(at, path, { as, method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** @param {string} at @param {string} [as] @returns {Promise<string>} */
async function newSession(at, as) {
  const response = await posted(at, '/sessions', { agentId: 'noter' }, as);
  assert.equal(response.status, 201);
  const { sessionId } = /** @type {{ readonly sessionId: string }} */ (await response.json());
  return sessionId;
}

class Events {
  #text = '';
  #decoder = new TextDecoder();
  #reader;

  /** @param {Response} response */
  constructor({ body }) {
    assert.ok(body);
    this.#reader = body.getReader();
  }

  /** Reads until the pattern is there. @param {RegExp} pattern @returns {Promise<RegExpExecArray>} */
  async until(pattern) {
    for (;;) {
      const found = pattern.exec(this.#text);
      if (found !== null) return found;
      const { done, value } = await this.#reader.read();
      if (done) throw new Error(`the stream ended before ${pattern}:\n${this.#text}`);
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  leave() {
    return this.#reader.cancel();
  }
}

/** @param {string} at @param {string} sessionId @param {Record<string, string>} [headers] */
async function eventsOf(at, sessionId, headers = {}) {
  const path = `/sessions/${sessionId}/events?words=1`;
  const response = await asked(at, path, { headers: { accept: 'text/event-stream', ...headers } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  assert.equal(response.headers.get('content-encoding'), null);
  return new Events(response);
}

/** A turn stops in its middle and waits for the client, which would wait for ever if it were kept back. @param {string} at */
async function streamsAsItComes(at) {
  const sessionId = await newSession(at);
  const events = await eventsOf(at, sessionId);
  await events.until(/event: session\.created\n/);
  assert.equal((await posted(at, `/sessions/${sessionId}/messages`, { text: 'Write it down' })).status, 202);
  await events.until(/event: word\n/);
  const [, requestId = ''] = await events.until(/"requestId":"([^"]+)"/);
  const answer = { kind: 'permission', requestId, allowed: true };
  assert.equal((await posted(at, `/sessions/${sessionId}/answers`, answer)).status, 202);
  await events.until(/That is settled/);
  await events.leave();
  const resumed = await eventsOf(at, sessionId, { 'last-event-id': '2' });
  const [, first] = await resumed.until(/^id: (\d+)\n/m);
  assert.equal(first, '3');
  await resumed.leave();
}

/** The stream of an answer to a POST, whose body is over long before. @param {string} at */
async function streamsAnswers(at) {
  const id = await newSession(at);
  const messages = [{ id: 'one', role: 'user', parts: [{ type: 'text', text: 'Write it down' }] }];
  const response = await posted(at, '/chat', { id, messages, trigger: 'submit-message' });
  assert.equal(response.status, 200);
  const text = await response.text();
  assert.match(text, /I write it down\./);
  assert.match(text, /"type":"tool-approval-request"/);
}

/** As many as are allowed at once, then one too many, until the clients are gone. @param {string} at */
async function letsGo(at) {
  // The only one who asks that often.
  const as = 'eve';
  const sessionId = await newSession(at, as);
  const gone = new AbortController();
  const headers = { accept: 'text/event-stream' };
  /** @type {Response[]} a response that is dropped is closed with it */
  const held = [];
  /** @param {{ readonly method?: 'HEAD', readonly signal?: null }} [init] */
  const open = async (init = {}) => {
    for (;;) {
      const response = await asked(at, `/sessions/${sessionId}/events`, { as, headers, signal: gone.signal, ...init });
      if (response.status !== 429) return void held.push(response);
      const isFull = init.method === 'HEAD' || (await response.text()).includes('API_STREAMS_LIMITED');
      if (isFull) return response;
      await pause(200);
    }
  };
  for (let count = 0; count < MAX_STREAMS; count += 1) assert.equal(await open(), undefined);
  assert.equal((await open())?.status, 429);
  gone.abort();
  while ((await open({ method: 'HEAD', signal: null })) !== undefined) await pause(200);
}

/**
 * @param {string} at @param {Record<string, string | number>} headers @param {Iterable<Buffer>} chunks what is sent, as
 * far as it is taken @returns {Promise<string>}
 */
function answerTo(at, headers, chunks) {
  return new Promise((resolve, reject) => {
    const asking = ask(`${at}/agent/sessions`, {
      method: 'POST',
      headers: { authorization: 'ada', 'content-type': 'application/json', ...headers },
    });
    asking.once('response', (response) => {
      resolve(`${response.statusCode}`);
      asking.destroy();
    });
    asking.once('error', reject);
    const iterator = chunks[Symbol.iterator]();
    const more = () => {
      const { value, done } = iterator.next();
      if (done === true || asking.destroyed) return void asking.end();
      asking.write(value, () => setImmediate(more));
    };
    more();
  });
}

/** @param {string} at */
async function limitsBodies(at) {
  assert.equal(await answerTo(at, { 'content-length': MAX_BODY_BYTES + 1 }, [Buffer.from('{')]), '413');
  const endless = (function* () {
    for (;;) yield Buffer.alloc(16_384, ' ');
  })();
  assert.equal(await answerTo(at, {}, endless), '413');
  // Clients that send on are not cut off before they have read why.
  for (let count = 0; count < 10; count += 1) {
    const body = Buffer.alloc(16 * MAX_BODY_BYTES, ' ');
    const response = await asked(at, '/sessions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    assert.match(await response.text(), /API_BODY_TOO_LARGE/);
  }
  assert.equal((await posted(at, '/sessions', { agentId: 'noter', name: 'x' })).status, 400);
}

/** @param {string} at */
async function refusesStrangers(at) {
  const response = await fetch(`${at}/agent/sessions`);
  assert.equal(response.status, 401);
  assert.match(await response.text(), /API_UNAUTHORIZED/);
  const preflight = await fetch(`${at}/agent/sessions`, {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.example' },
  });
  assert.equal(preflight.headers.get('access-control-allow-origin'), null);
  assert.equal((await asked(at, '/nothing')).status, 404);
}

/**
 * A server that is told to end does, though a client holds a stream open. @param {string} at @param {() => Promise<unknown>}
 * end tells it, and waits for it
 */
export async function endsWithOpenStreams(at, end) {
  const sessionId = await newSession(at);
  const events = await eventsOf(at, sessionId);
  await events.until(/event: session\.created\n/);
  assert.deepEqual(await end(), [0, null]);
  await events.leave().catch(() => undefined);
}

/** @type {Readonly<Record<string, (at: string) => Promise<void>>>} each asked of the origin of a server */
export const HTTP_CHECKS = {
  'refuses who is not known': refusesStrangers,
  'streams a turn as it comes, takes the answer in its middle, and goes on where a client was cut off':
    streamsAsItComes,
  'streams the answer to a message of a chat': streamsAnswers,
  'takes no more of a body than it may have': limitsBodies,
  'lets go of streams whose clients are gone': letsGo,
};

/** The password of a store's URL comes into nothing that is kept, however an agent got at it. */
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { secretsOfUrl } from '../../../src/adapters/postgres/postgres-url.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import { emptyStores } from './empty-stores.ts';

const { database } = emptyStores();

it('is known as it is written and as it is meant, unless it is a name of the place as well', () => {
  expect(secretsOfUrl('postgres://worker:geheim%2Fes@db/work')).toEqual(['geheim%2Fes', 'geheim/es']);
  expect(secretsOfUrl('postgres://worker@db/work?password=geheimes')).toEqual(['geheimes']);
  expect(secretsOfUrl('postgres://worker@db/work', ['from-elsewhere'])).toEqual(['from-elsewhere']);
  expect(secretsOfUrl('postgres://worker:worker@db/work')).toEqual([]);
  expect(secretsOfUrl('postgres://postgres:postgres@db/work')).toEqual([]);
  expect(secretsOfUrl('no URL')).toEqual([]);
});

it('is taken out of what a command says, of the log and of every file of the home', async () => {
  const home = await mkdtemp(join(tmpdir(), 'wakechart-home-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const named = new URL(database().url);
  if (named.password === '') named.searchParams.set('password', 'correct-horse-7');
  const password = named.password || 'correct-horse-7';
  const runtime = await createNodeRuntime({ home, store: { postgres: named.toString() } });
  onTestFinished(() => runtime.shutdown());
  await runtime.agents.create({
    agentId: 'spy',
    source: {
      frontmatter: { name: 'Spy', provider: 'script', model: 'script.json', permission: 'preapproved' },
      instructions: 'Check.',
    },
  });
  await writeFile(
    join(home, 'agents/spy/script.json'),
    JSON.stringify({
      format: 'wakechart-script/1',
      steps: [
        { toolCalls: [{ name: 'shell_run', input: { command: 'cat ../../../../../found' } }] },
        { text: 'Seen.' },
      ],
      onEnd: 'sleep',
    }),
  );
  await writeFile(join(home, 'found'), `WAKECHART_STORE=${named.toString()}\n`);
  const { sessionId } = await runtime.sessions.create({ agentId: 'spy' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Check.' });
  await runtime.startWorker({ untilIdle: true }).ended;
  const events: object[] = [];
  for await (const event of runtime.sessions.events(sessionId)) events.push(event);
  const log = JSON.stringify(events);
  expect(log).toContain('Seen.');
  expect(log).toContain('[redacted password of the store]');
  expect(log).not.toContain(password);
  await rm(join(home, 'found'));
  const files = (await readdir(home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const telling: string[] = [];
  for (const { parentPath, name } of files)
    if ((await readFile(join(parentPath, name))).includes(password)) telling.push(name);
  expect(telling).toEqual([]);
});

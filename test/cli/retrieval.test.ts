/** `wakechart retrieval`, by people at a terminal, in several processes at once, and where things go wrong under it. */
import { spawn } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { createIdSource } from '../../src/actors/session/id-source.ts';
import { SessionJournal } from '../../src/actors/session/session-journal.ts';
import { FileEventStore } from '../../src/adapters/files/file-event-store.ts';
import { program, start } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { Stage } from './stage.ts';

const SESSIONS = 40;
const CHECK_EVERY_MS = 2;

let stage: Stage;
let first: string;
let agent: string;

interface Found {
  readonly candidates: readonly {
    readonly id: string;
    readonly kind: string;
    readonly sessionId: string;
    readonly seqs: readonly number[];
  }[];
  readonly searched: { readonly sessions: number; readonly documents: number };
  readonly note: string;
}

beforeAll(async () => {
  stage = await Stage.open();
  first = (await stage.session()).id;
  agent = (await stage.runtime.sessions.status(first)).agentId;
  const others = await Promise.all(
    Array.from({ length: SESSIONS - 1 }, () => stage.runtime.sessions.create({ agentId: agent })),
  );
  const clock = createSystemClock();
  const store = new FileEventStore({ home: stage.home, clock });
  for (const [n, sessionId] of [first, ...others.map((each) => each.sessionId)].entries()) {
    const journal = await SessionJournal.open(sessionId, { store, clock, ids: createIdSource({ clock }) });
    const said = Array.from({ length: 10 }, (_, line) => `Crate ${n} holds amber and line ${line}.`);
    await journal.append(
      [...said, ...(n === 0 ? ['The staging proxy listens on port 8443.'] : [])].map((text) => ({
        type: 'agent.message',
        data: { text, spanId: 's' },
      })),
    );
  }
  await store.close();
});
afterAll(() => stage.close());

const folder = (): string => join(stage.home, 'agents', agent, 'retrieval');
const parts = async (): Promise<string[]> =>
  (await readdir(folder()).catch(() => [])).filter((name) => name.endsWith('.part'));
const words = (...more: readonly string[]): readonly string[] => ['retrieval', ...more, '--agent', agent];

function foundBy(ended: Ended): Found {
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(ended.stdout) as Found;
}

const search = async (...query: readonly string[]): Promise<Found> =>
  foundBy(await stage.run(...words('search', ...query), '--json'));

beforeEach(() => rm(folder(), { recursive: true, force: true }));

describe('retrieval on the command line', () => {
  it('finds what a session said, and says where', async () => {
    const { candidates, searched, note } = await search('which port does the staging proxy use');
    expect(candidates[0]).toMatchObject({ kind: 'text', sessionId: first });
    expect(searched.sessions).toBe(SESSIONS);
    expect(note).toContain('hints');
    const told = await stage.run(...words('search', 'staging', 'proxy'));
    expect(told.stdout).toContain(`session ${first}`);
    expect(told.stdout).toContain('«staging» «proxy»');
  });

  it('finds the same in a process of its own, as users run it', async () => {
    const expected = await search('staging proxy');
    expect(foundBy(await stage.runProgram(...words('search', 'staging proxy'), '--json'))).toEqual(expected);
  });

  it('keeps to what was asked for', async () => {
    expect((await search('amber', '--kind', 'trace')).candidates).toEqual([]);
    // Each kind is named by itself, so that the question may come after it.
    expect((await search('--kind', 'trace', '--kind', 'text', 'amber')).candidates.map(({ kind }) => kind)).toContain(
      'text',
    );
    expect((await search('amber', '--limit', '2')).candidates).toHaveLength(2);
    expect((await search('amber', '--since', '2999-01-01')).candidates).toEqual([]);
    expect(
      (await search('amber', '--relation', 'self', '--session', first)).candidates.every(
        ({ sessionId }) => sessionId === first,
      ),
    ).toBe(true);
  });

  it('makes the index anew from the logs', async () => {
    const ended = await stage.run(...words('rebuild'), '--json');
    expect(JSON.parse(ended.stdout)).toMatchObject({ sessionsRead: SESSIONS, sessionsLeftOut: 0 });
    expect(await parts()).toHaveLength(SESSIONS);
    expect((await stage.run(...words('rebuild'))).stdout).toMatch(/Made anew from 40 sessions, \d+ events\./);
  });

  it.each([
    [
      ['search', 'amber', '--since', 'yesterday'],
      /--since.*'yesterday'.*Expected a day, such as 2026-03-01, or a moment/,
    ],
    [['search', 'amber', '--until', '2026-02-31'], /--until.*'2026-02-31'.*Expected a day/],
    [
      ['search', 'amber', '--kind', 'dream'],
      /--kind.*'dream'.*Expected one of learning, memory, checkpoint, text, trace/,
    ],
    [['search', 'amber', '--limit', '0'], /limit/],
    [['search', 'amber', '--relation', 'cousins'], /cousins/],
    [['search', 'amber', '--session', '..'], /session/],
    [['search', 'x'.repeat(501)], /at most 500 characters to search for, received 501/],
    [['search', ' '], /expected words to search for, received none/],
    [['search', ''], /expected words to search for, received none/],
    [
      ['search', 'amber', '--relation', 'self'],
      /expected --session with --relation self, received none[\s\S]*--relation self --session ID/,
    ],
    [
      ['search', 'amber', '--since', '2026-03-02', '--until', '2026-03-01'],
      /"until" to be no earlier than "since", received since 2026-03-02 and until 2026-03-01/,
    ],
    [['rebuild', '--all'], /--all/],
  ])('refuses %j', async (wrong, message) => {
    const ended = await stage.run(...words(...wrong));
    expect([ended.code, ended.stdout]).toEqual([2, '']);
    expect(ended.stderr).toMatch(message);
    expect(await parts()).toEqual([]);
  });

  it('refuses a session that is not there, or of another agent', async () => {
    const gone = await stage.run(...words('search', 'amber', '--session', '0192f0c1-2345-7abc-8def-0123456789ab'));
    expect(gone).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('SESSION_NOT_FOUND') as string });
    const other = await stage.session();
    const stranger = await stage.run(...words('search', 'amber', '--relation', 'self', '--session', other.id));
    expect(stranger).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /expected a session of agent \S+, \S+ is one of agent \S+ \[SESSION_OF_ANOTHER_AGENT\]\n  hint: .*--agent/,
      ) as string,
    });
    expect(await parts()).toEqual([]);
  });

  it('says that there is no such agent', async () => {
    const ended = await stage.run('retrieval', 'search', '--agent', 'nobody', 'amber');
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toContain('AGENT_NOT_FOUND');
  });
});

describe('several processes', () => {
  it('may make and search the same index at once', async () => {
    const expected = await search('staging proxy');
    await rm(folder(), { recursive: true, force: true });
    const ended = await Promise.all([
      stage.runProgram(...words('search', 'staging proxy'), '--json'),
      stage.runProgram(...words('rebuild'), '--json'),
      stage.runProgram(...words('search', 'staging proxy'), '--json'),
    ]);
    expect(foundBy(ended[0])).toEqual(expected);
    expect(ended[1]).toMatchObject({ code: 0, stderr: '' });
    expect(foundBy(ended[2])).toEqual(expected);
    expect(await search('staging proxy')).toEqual(expected);
    expect((await readdir(folder())).every((name) => name.endsWith('.part'))).toBe(true);
  });

  it('find everything after one was killed while it made the index', async () => {
    const expected = await search('staging proxy');
    for (const kept of [1, 10, 30]) {
      await rm(folder(), { recursive: true, force: true });
      const killed = start([...words('rebuild'), '--home', stage.home]);
      while ((await parts()).length < kept && killed.process.exitCode === null) await delay(CHECK_EVERY_MS);
      killed.process.kill('SIGKILL');
      await killed.ended;
      expect(await search('staging proxy')).toEqual(expected);
      expect(await parts()).toHaveLength(SESSIONS);
    }
  });
});

describe('a disk that takes no more', () => {
  it('is told of once, and everything is found all the same', async () => {
    const expected = await search('staging proxy');
    await rm(folder(), { recursive: true, force: true });
    const ended = await withoutRoom([...words('search', 'staging proxy'), '--json', '--home', stage.home]);
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toEqual(expected);
    expect(ended.stderr.match(/note: .*(?:EFBIG|file too large)/g)).toHaveLength(1);
    expect(await readdir(folder())).toEqual([]);
  });
});

/** In a process that may not make any file longer than nothing: as on a full disk, each write fails. */
function withoutRoom(args: readonly string[]): Promise<Ended> {
  const child = spawn('/bin/sh', ['-c', 'ulimit -f 0 && exec "$@"', 'sh', process.execPath, program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, WAKECHART_HOME: undefined, TMPDIR: stage.home },
  });
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  child.stdout.on('data', (chunk: Buffer) => chunks.stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.stderr.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      resolve({
        code,
        stdout: Buffer.concat(chunks.stdout).toString(),
        stderr: Buffer.concat(chunks.stderr).toString(),
      }),
    );
  });
}

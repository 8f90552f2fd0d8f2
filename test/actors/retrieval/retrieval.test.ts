import { chmod, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { Retrieval } from '../../../src/actors/retrieval/retrieval.ts';
import type { RetrievalSources } from '../../../src/actors/retrieval/retrieval-sources.ts';
import { FileRetrievalIndex } from '../../../src/adapters/retrieval-files/file-retrieval-index.ts';
import type { RetrievalCandidate } from '../../../src/machines/retrieval/candidate.ts';
import { AGENT, Logs, sessionIdOf } from '../../support/retrieval-logs.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
let logs: Logs;
let trouble: unknown[];

beforeEach(async () => {
  home = await temporaryHome();
  logs = new Logs();
  trouble = [];
});

afterEach(() => home.remove());

const folder = (): string => join(home.path, 'retrieval');

/** A process of its own over the same files. */
function process(sources: Partial<RetrievalSources> = {}): Retrieval {
  const onTrouble = (error: unknown): void => void trouble.push(error);
  const index = new FileRetrievalIndex({ folderOf: folder, onTrouble });
  return new Retrieval({
    index,
    sources: { sessions: logs, ...sources },
    clock: createSimulatedClock({ now: Date.parse('2026-02-01T00:00:00Z') }),
    onTrouble,
  });
}

async function found(
  retrieval: Retrieval,
  query: string,
  request: Partial<Parameters<Retrieval['search']>[0]> = {},
): Promise<readonly RetrievalCandidate[]> {
  return (await retrieval.search({ agentId: AGENT, query, ...request })).candidates;
}

const places = (candidates: readonly RetrievalCandidate[]): string[] => candidates.map(({ id }) => id);

describe('a search', () => {
  it('finds what was said in another session, and says where, how sure it is and how to open it', async () => {
    const other = logs.start(1, { title: 'Payouts' });
    logs.say(other, 'How is the weather?');
    const seq = logs.say(other, 'The staging proxy listens on port 8443.');
    const [best] = await found(process(), 'Which port does the staging proxy listen on?');
    expect(best).toMatchObject({
      id: `${other}:${seq}`,
      kind: 'text',
      sessionId: other,
      seqs: [seq],
      score: 1,
      confidence: 'high',
    });
    expect(best?.evidence).toContain('«staging» «proxy»');
    expect(best?.expansionPlan).toEqual([
      { tool: 'session_get_events', input: { sessionId: other, from: 1, limit: 12 } },
    ]);
  });

  it('finds the answer by the question before it', async () => {
    const session = logs.start(1);
    logs.say(session, 'Which database do the invoices live in?');
    const seq = logs.answer(session, 'Tallinn, replicated to Oslo.');
    expect(places(await found(process(), 'database of the invoices'))).toContain(`${session}:${seq}`);
  });

  it('finds words that are inflected, misspelt, or mean about the same', async () => {
    const session = logs.start(1);
    const one = logs.say(session, 'We postponed the migrations of the warehouse.');
    const two = logs.say(session, 'The certificates are kept by Amara.');
    const three = logs.say(session, 'Delete the old branches every Friday.');
    const retrieval = process();
    expect(places(await found(retrieval, 'migrating warehouses'))[0]).toBe(`${session}:${one}`);
    expect(places(await found(retrieval, 'certifcates'))[0]).toBe(`${session}:${two}`);
    expect(places(await found(retrieval, 'remove branch'))[0]).toBe(`${session}:${three}`);
  });

  it('finds what a tool call did and how it failed', async () => {
    const session = logs.start(1);
    logs.call(session, 'c1', {
      name: 'shell_run',
      input: { command: 'npm run migrate' },
      output: {
        exitCode: 1,
        stdout: `${'ok\n'.repeat(200)}ERROR: relation "payouts" is locked\n${'ok\n'.repeat(200)}`,
      },
      outcome: 'failed',
    });
    const [best] = await found(process(), 'what error did the payouts relation give');
    expect(best).toMatchObject({ kind: 'trace', seqs: [2, 3] });
    expect(best?.evidence).toContain('«relation» "«payouts»"');
    expect(best?.expansionPlan[0]).toEqual({
      tool: 'session_get_trace',
      input: { sessionId: session, callId: 'c1', nearSeq: 2 },
    });
  });

  it('never finds what retrieval itself put out', async () => {
    const session = logs.start(1);
    logs.call(session, 'c1', {
      name: 'retrieval_search',
      input: { query: 'zebra' },
      output: { candidates: ['zebra crossing'] },
    });
    expect(await found(process(), 'zebra')).toEqual([]);
  });

  it('leaves out the current turn of the session that asks', async () => {
    const own = logs.start(1);
    const before = logs.say(own, 'The heron nests in the harbor.');
    const now = logs.say(own, 'Where does the heron nest?');
    expect(
      places(await found(process(), 'heron nest', { sessionId: own, beforeSeq: now })).filter(
        (id) => !id.endsWith(':session'),
      ),
    ).toEqual([`${own}:${before}`]);
  });

  it('keeps to the sessions that are related as asked', async () => {
    const texts = [0, 1, 2, 3, 4].map((n) =>
      logs.start(n, n === 1 || n === 2 ? { parent: 0 } : n === 3 ? { parent: 1 } : {}),
    );
    for (const session of texts) logs.say(session, `The lantern number of ${session.slice(-2)} is hidden here.`);
    const retrieval = process();
    const sessionsOf = async (relation: Parameters<Retrieval['search']>[0]['relation']): Promise<string[]> =>
      [
        ...new Set(
          (await found(retrieval, 'lantern', { relation, sessionId: sessionIdOf(1), limit: 20 })).map(
            ({ sessionId = '' }) => sessionId,
          ),
        ),
      ].sort();
    expect(await sessionsOf('self')).toEqual([sessionIdOf(1)]);
    expect(await sessionsOf('ancestors')).toEqual([sessionIdOf(0)]);
    expect(await sessionsOf('descendants')).toEqual([sessionIdOf(3)]);
    expect(await sessionsOf('siblings')).toEqual([sessionIdOf(2)]);
    expect(await sessionsOf('family')).toEqual([0, 1, 2, 3].map(sessionIdOf));
    expect(await sessionsOf('agent')).toEqual([0, 1, 2, 3, 4].map(sessionIdOf));
  });

  it('keeps to kinds, tools and times', async () => {
    const session = logs.start(1);
    logs.say(session, 'The otter swims.');
    logs.call(session, 'c1', { name: 'read', input: { path: 'otter.txt' }, output: 'The otter sleeps.' });
    logs.call(session, 'c2', { name: 'shell_run', input: { command: 'cat otter.txt' }, output: 'The otter eats.' });
    const retrieval = process();
    expect((await found(retrieval, 'otter', { kinds: ['trace'] })).map(({ kind }) => kind)).toEqual(['trace', 'trace']);
    expect((await found(retrieval, 'otter', { tool: 'read' })).map(({ seqs }) => seqs)).toEqual([[3, 4]]);
    expect(await found(retrieval, 'otter', { since: '2026-01-02' })).toEqual([]);
    expect(await found(retrieval, 'otter', { until: '2026-01-02T00:00:00Z' })).not.toEqual([]);
    await expect(found(retrieval, 'otter', { since: 'soon' })).rejects.toMatchObject({
      code: 'RETRIEVAL_REQUEST_INVALID',
    });
  });

  it('finds learnings and memory, and forgets those that are gone', async () => {
    let learnings = [
      {
        learningId: 'l1',
        kind: 'lesson' as const,
        title: 'Round per line',
        detail: 'Tax is rounded on each invoice line.',
      },
    ];
    const sources = {
      learnings: { learnings: async () => learnings },
      memory: { memoryEntries: async () => [{ entryId: 'style', heading: 'Style', text: 'Tabs are never used.' }] },
    };
    logs.start(1);
    expect((await found(process(sources), 'rounding tax'))[0]).toMatchObject({
      id: 'learning:l1',
      kind: 'learning',
      expansionPlan: [{ tool: 'read' }],
    });
    expect((await found(process(sources), 'tabs'))[0]).toMatchObject({
      id: 'memory:style',
      kind: 'memory',
      expansionPlan: [{ tool: 'read', input: { path: '/workspace/agent/MEMORY.md' } }],
    });
    learnings = [];
    expect(await found(process(sources), 'rounding tax')).toEqual([]);
  });

  it('gives what is said twice only once', async () => {
    const [one, two] = [logs.start(1), logs.start(2)];
    for (const session of [one, two]) logs.say(session, 'The walnut press opens at nine on working days.');
    const candidates = (await found(process(), 'walnut press')).filter(({ kind }) => kind === 'text');
    expect(candidates).toHaveLength(1);
    expect(candidates[0]?.because).toContain('more say nearly the same');
  });

  it('answers a query without a single telling word with nothing', async () => {
    logs.say(logs.start(1), 'What is it that you do?');
    expect(await found(process(), 'what is it? …')).toEqual([]);
  });
});

describe('the index', () => {
  const fill = (): string => {
    const session = logs.start(1);
    for (let n = 0; n < 20; n += 1) logs.say(session, `Crate ${n} holds amber and number ${n}.`);
    return session;
  };

  it('is read from its files by the next process, which reads no log again', async () => {
    fill();
    await process().refresh(AGENT);
    logs.read = 0;
    expect(await found(process(), 'amber crate')).not.toEqual([]);
    expect(logs.read).toBe(0);
  });

  it('reads on where it stopped', async () => {
    const session = fill();
    const retrieval = process();
    await retrieval.refresh(AGENT);
    logs.read = 0;
    const seq = logs.say(session, 'The copper key is under the mat.');
    expect(await retrieval.refresh(AGENT)).toMatchObject({ sessionsRead: 1, eventsRead: 1 });
    // The event where it stopped, to see that the log is the same, and the new one.
    expect(logs.read).toBe(2);
    expect(places(await found(retrieval, 'copper key'))).toContain(`${session}:${seq}`);
  });

  it.each([
    ['is torn', (text: string) => text.slice(0, -20)],
    ['is of another version', (text: string) => text.replace('wakechart-retrieval/2', 'wakechart-retrieval/1')],
    ['was changed by somebody', (text: string) => text.replace('amber', 'gold!')],
    ['is empty', () => ''],
  ])('is made anew when a file %s', async (_, damage) => {
    const session = fill();
    await process().refresh(AGENT);
    const file = join(folder(), `${session}.part`);
    const whole = await readFile(file, 'latin1');
    await writeFile(file, damage(whole), 'latin1');
    expect(await found(process(), 'amber crate')).not.toEqual([]);
    expect(await readFile(file, 'latin1')).toBe(whole);
    expect(trouble).toEqual([]);
  });

  it('is made anew when it is lost, and when the log is shorter than it or another one', async () => {
    const session = fill();
    const retrieval = process();
    await retrieval.refresh(AGENT);
    await rm(folder(), { recursive: true });
    expect(await found(process(), 'amber crate')).not.toEqual([]);
    logs.logs.delete(session);
    logs.start(1);
    const seq = logs.say(session, 'Only silver is left.');
    expect(await found(process(), 'amber crate')).toEqual([]);
    for (let n = 0; n < 30; n += 1) logs.say(session, `Silver spoon ${n}.`);
    expect(places(await found(process(), 'only silver is left'))).toContain(`${session}:${seq}`);
  });

  it('is made anew for another log that is as long as the one before', async () => {
    const session = logs.start(1);
    logs.say(session, 'The kestrel is grey.');
    const retrieval = process();
    await retrieval.refresh(AGENT);
    logs.logs.delete(session);
    logs.say(logs.start(1), 'The falcon is brown.');
    expect(await found(process(), 'kestrel')).toEqual([]);
    await retrieval.refresh(AGENT);
    expect(await found(retrieval, 'falcon')).not.toEqual([]);
  });

  it('forgets sessions that are gone, with their files', async () => {
    const session = fill();
    await process().refresh(AGENT);
    logs.logs.delete(session);
    logs.start(2);
    await process().refresh(AGENT);
    expect(await readdir(folder())).toEqual([`${sessionIdOf(2)}.part`]);
  });

  it('is whole whatever two processes do to it at once', async () => {
    const session = fill();
    const both = [process(), process()] as const;
    for (let round = 0; round < 10; round += 1) {
      logs.say(session, `Round ${round} of the fiddle.`);
      await Promise.all(both.map((each) => each.refresh(AGENT)));
    }
    logs.read = 0;
    expect((await found(process(), 'fiddle round 9', { limit: 20 })).length).toBeGreaterThan(5);
    expect(logs.read).toBeLessThanOrEqual(3);
    expect((await readdir(folder())).filter((name) => name.endsWith('.draft'))).toEqual([]);
    expect(trouble).toEqual([]);
  });

  it('keeps its files to their owner', async () => {
    fill();
    await process().refresh(AGENT);
    expect((await stat(folder())).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder(), `${sessionIdOf(1)}.part`))).mode & 0o777).toBe(0o600);
  });

  it('writes through no link, and finds everything all the same', async () => {
    fill();
    const elsewhere = join(home.path, 'elsewhere');
    await mkdir(elsewhere);
    await symlink(elsewhere, folder());
    expect(await found(process(), 'amber crate')).not.toEqual([]);
    expect(await readdir(elsewhere)).toEqual([]);
    expect(trouble).toMatchObject([{ code: 'RETRIEVAL_FOLDER_INVALID' }]);
  });

  it('goes on in memory when nothing can be written', async () => {
    fill();
    await writeFile(folder(), 'a file in the way');
    await chmod(folder(), 0o400);
    expect(await found(process(), 'amber crate')).not.toEqual([]);
    expect(trouble).not.toEqual([]);
  });

  it('keeps a bounded number of documents of a session: messages before traces, the newest before the oldest', async () => {
    const session = logs.start(1);
    for (let n = 0; n < 1_200; n += 1)
      logs.call(session, `c${n}`, { name: 'read', input: { path: `f${n}` }, output: `granite ${n}` });
    for (let n = 0; n < 1_200; n += 1) logs.say(session, `basalt ${n}`);
    const { searched } = await process().search({ agentId: AGENT, query: 'granite' });
    expect(searched.documents).toBe(2_000);
    expect(places(await found(process(), 'basalt 0'))).toContain(`${session}:2402`);
    expect(await found(process(), 'granite 3')).not.toContainEqual(expect.objectContaining({ seqs: [8, 9] }));
  });
});

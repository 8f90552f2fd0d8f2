import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { records, start, until } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { eventShape, placedSessionShape, receiptShape, sessionShape } from './shapes.ts';
import { Stage } from './stage.ts';

let stage: Stage;

const here = (...words: readonly string[]): Promise<Ended> => stage.run(...words);

const newSession = async (): Promise<string> => (await stage.session()).id;

const sending = (session: string, message: string, ...more: readonly string[]): string[] => [
  'session',
  'send',
  '--session',
  session,
  '--message',
  message,
  '--json',
  ...more,
];

const receiptOf = ({ stdout }: Ended): z.output<typeof receiptShape> => receiptShape.parse(JSON.parse(stdout));

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

describe.concurrent('a session', () => {
  it('is made, written to, listed and checked', async () => {
    await stage.session();
    const created = await here('session', 'create', '--agent', 'actor-1');
    const [sessionId = ''] = /[0-9a-f-]{36}/.exec(created.stdout) ?? [];
    expect(created).toMatchObject({ code: 0, stderr: '' });
    const sent = await here('session', 'send', '--session', sessionId, '--message', 'Good morning.');
    expect(sent.stdout).toMatch(/^Stored as event 2 \(on disk\)\nA worker goes on with it, or: .* wake --session /);
    const [status, list, events, listJson, statusJson] = await Promise.all([
      here('session', 'status', '--session', sessionId),
      here('session', 'list'),
      here('session', 'events', '--session', sessionId),
      here('session', 'list', '--json'),
      here('session', 'status', '--session', sessionId, '--json'),
    ]);
    expect(status.stdout).toMatch(/^status\s+idle$[\s\S]*^unread\s+1 message$/m);
    expect(list.stdout).toMatch(new RegExp(`^SESSION .*\\n[\\s\\S]*^${sessionId}\\s+actor-1\\s+idle`, 'm'));
    expect(events.stdout).toMatch(/^ +1 .* session\.created +agent actor-1\n +2 .* user\.message +Good morning\.\n$/);
    const { sessions } = z.strictObject({ sessions: z.array(sessionShape) }).parse(JSON.parse(listJson.stdout));
    expect(sessions.map((each) => each.sessionId)).toContain(sessionId);
    expect(placedSessionShape.parse(JSON.parse(statusJson.stdout))).toMatchObject({ sessionId, head: 2, wakes: 0 });
  });

  it('that is parked is listed as that, so that an operator finds it', async () => {
    const { id } = await stage.sessionToWake({ error: { kind: 'format', message: 'no such field' } });
    await here('wake', '--session', id);
    expect((await here('session', 'list')).stdout).toMatch(new RegExp(`^${id} .* idle, parked `, 'm'));
  });

  it('that is not there, or cannot be one, is answered with those that are', async () => {
    // On a stage of its own: only the newest sessions are listed, and others are made beside this one.
    const alone = await Stage.open();
    const { id: sessionId } = await alone.session();
    const unknown = '0192f0c1-2345-7abc-8def-0123456789ab';
    const [missing, malformed] = await Promise.all([
      alone.run('session', 'status', '--session', unknown),
      alone.run('session', 'send', '--session', 'the-first', '--message', 'x'),
    ]);
    await alone.close();
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr).toMatch(/there is no session "0192f0c1[\s\S]*hint: Sessions in .*newest first:/);
    expect(missing.stderr).toContain(sessionId);
    expect(malformed).toMatchObject({ code: 2, stdout: '' });
    expect(malformed.stderr).toContain('expected a session id, received "the-first"');
    expect(malformed.stderr).toContain(sessionId);
  });

  it('takes messages from many senders at once, each one once and in an order', async () => {
    const sessionId = await newSession();
    // Each of them a process of its own.
    const send = (message: string, ...more: readonly string[]): Promise<Ended> =>
      stage.runProgram(...sending(sessionId, message, ...more));
    const same = (): Promise<Ended> => send('the same', '--idempotency-key', 'one intent');
    const receipts = (await Promise.all([same(), same(), send('one'), send('another')])).map(receiptOf);
    expect(receipts[0]).toEqual(receipts[1]);
    expect(
      receipts
        .slice(1)
        .map(({ seq }) => seq)
        .toSorted((one, other) => one - other),
    ).toEqual([2, 3, 4]);
    expect((await stage.eventsOf(sessionId)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  it('shows the part of its log that is asked for', async () => {
    const sessionId = await newSession();
    for (const text of ['one', 'two', 'three'])
      await stage.runtime.sessions.send(sessionId, { type: 'user.message', text });
    const { stdout } = await here(
      'session',
      'events',
      '--session',
      sessionId,
      '--after',
      '1',
      '--limit',
      '2',
      '--json',
    );
    expect(records(stdout).map((record) => eventShape.parse(record).data)).toMatchObject([
      { text: 'one' },
      { text: 'two' },
    ]);
    const newest = await here('session', 'events', '--session', sessionId, '--last', '2', '--json');
    expect(records(newest.stdout).map((record) => eventShape.parse(record).data)).toMatchObject([
      { text: 'two' },
      { text: 'three' },
    ]);
    const all = await here('session', 'events', '--session', sessionId, '--last', '900', '--limit', '1');
    expect(all.stdout).toMatch(/^ +1 .* session\.created/);
    expect(await here('session', 'events', '--session', sessionId, '--last', '2', '--after', '1')).toMatchObject({
      code: 2,
    });
  });

  it('shows people what it has used', async () => {
    const { id } = await stage.sessionToWake({
      text: 'Hm.',
      usage: { inputTokens: 12_000, outputTokens: 345, cost: 0.0421 },
    });
    expect((await here('session', 'status', '--session', id)).stdout).not.toMatch(/^used/m);
    await here('wake', '--session', id);
    expect((await here('session', 'status', '--session', id)).stdout).toMatch(/^used +12,345 tokens, \$0\.0421$/m);
  });
});

describe.concurrent('following a session', () => {
  it('shows what another process stores, until it is interrupted', async () => {
    const sessionId = await newSession();
    const following = start(['session', 'events', '--session', sessionId, '--follow', '--json', '--home', stage.home]);
    await until('the events so far', () => records(following.stdout()).length === 1);
    receiptOf(await here(...sending(sessionId, 'news')));
    await until('the news', () => following.stdout().includes('"text":"news"'));
    following.process.kill('SIGINT');
    expect(await following.ended).toMatchObject({ code: 130, stderr: '' });
  });

  it('ends by itself after as many events as were asked for', async () => {
    const sessionId = await newSession();
    const following = start([
      'session',
      'events',
      '--session',
      sessionId,
      '--follow',
      '--limit',
      '2',
      '--home',
      stage.home,
    ]);
    await until('the first event', () => following.stdout().includes('session.created'));
    receiptOf(await here(...sending(sessionId, 'the second')));
    expect(await following.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('the second') as string });
  });
});

describe('a reader who has seen enough', () => {
  it('is no error', async () => {
    const sessionId = await newSession();
    for (const letter of ['a', 'b'])
      await stage.runtime.sessions.send(sessionId, { type: 'user.message', text: letter.repeat(110_000) });
    const showing = start(['session', 'events', '--session', sessionId, '--json', '--home', stage.home]);
    const { stdout } = showing.process;
    if (stdout !== null) await once(stdout, 'data');
    stdout?.destroy();
    expect(await showing.ended).toMatchObject({ code: 0, stderr: '' });
  });
});

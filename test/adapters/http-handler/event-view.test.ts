/** What callers read of a log who do not run the service. */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventFor, told } from '../../../src/adapters/http-handler/event-view.ts';
import { createHttpHandler } from '../../../src/adapters/http-handler/handler.ts';
import { troubleOf, viewOf } from '../../../src/adapters/http-handler/session-view.ts';
import { jobEndingText } from '../../../src/machines/subagent/job-ending.ts';
import { TOLD_FIELDS } from '../../../src/adapters/http-handler/told-fields.ts';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import { sessionEventDefinitions } from '../../../src/machines/session/event-schemas.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { AT, serve, sessionOf } from './served.ts';

const SESSION = '0192f0c1-2345-7abc-8def-0123456789ab';
const place = { sessionId: SESSION, workspace: undefined };
const viewer = { seesAll: false, homes: ['/srv/h.me', '/data/h.me'] };

const shown = (type: string, data: object): string =>
  JSON.stringify(eventFor({ type, data, sessionId: SESSION } as unknown as SessionEvent, place, viewer).data);

/** Fields that say where the server runs something, or what went wrong there, whichever event has them. */
const OF_THE_SERVER = ['error', 'workspace', 'host', 'cwd', 'outputPath', 'setAside', 'worktree', 'profile'];

describe('an event, for who has the right to read the log', () => {
  const fields = Object.entries(sessionEventDefinitions).flatMap(([type, { data }]) =>
    Object.keys(data.shape)
      .filter((field) => OF_THE_SERVER.includes(field))
      .map((field): [string, string] => [type, field]),
  );

  it.each(fields)('%s does not tell its %s', (type, field) => {
    for (const value of ['/srv/home', { message: '/srv/home', hint: '/srv/home' }, [{ because: '/srv/home' }]])
      expect(shown(type, { [field]: value })).not.toContain('/srv/home');
  });

  it('tells that something failed, and of what kind', () => {
    const error = { code: 'RUN_FAILED', category: 'provider', message: 'Set KEY', hint: 'in /srv/.env' };
    expect(JSON.parse(shown('wake.ended', { outcome: 'failed', error, summary: 'The wake failed: Set KEY.' }))).toEqual(
      {
        outcome: 'failed',
        error: { code: 'RUN_FAILED', category: 'provider', message: expect.stringContaining('could not go on') },
        summary: expect.stringContaining('could not go on'),
      },
    );
    expect(shown('agent.tool_result', { output: { output: 'The wake failed: /srv', agent: 'a' } })).not.toContain(
      '/srv',
    );
  });

  it.each([
    [
      'with its code',
      jobEndingText({ jobId: 'j 1', status: 'failed', error: { code: 'RUN_FAILED', message: 'Set KEY: x' } }),
    ],
    ['as older logs have it', 'the job j 1 whose work it did failed: Set KEY: x'],
  ])('tells that the job of a subagent failed, and nothing of its error: %s', (_, reason) => {
    const said = shown('session.status_changed', { to: 'terminated', reason });
    expect(said).toMatch(/the job j 1 whose work it did failed(?: \[RUN_FAILED\])?: The agent could not go on/);
    expect(said).not.toContain('KEY');
    const cancelled = jobEndingText({ jobId: 'j', status: 'cancelled' });
    expect(shown('session.status_changed', { reason: cancelled })).toContain(cancelled);
  });

  it('tells of a field only where that is decided', () => {
    expect(shown('user.message', { text: 'Hi', ofTomorrow: '/srv' })).toBe('{"text":"Hi"}');
    expect(shown('event.unrecognized', { type: 'wake.started', v: 9, data: { host: '/srv' } })).toBe(
      '{"type":"wake.started","v":9}',
    );
    for (const [type, { data }] of Object.entries(sessionEventDefinitions))
      expect([type, ...Object.keys(TOLD_FIELDS[type as SessionEvent['type']]).toSorted()]).toEqual([
        type,
        ...Object.keys(data.shape).toSorted(),
      ]);
  });

  it('tells which model was chosen, and neither whose account pays nor why', () => {
    const candidate = { provider: 'p', model: 'm', profile: 'boss-acct' };
    const skipped = [{ candidate, because: 'boss-acct rests' }];
    for (const type of ['run.attempt_failed', 'run.candidate_selected', 'run.waiting', 'span.started'])
      expect(shown(type, { candidate, skipped, because: 'boss-acct', profile: 'boss-acct' })).not.toContain('boss');
    expect(JSON.parse(shown('run.candidate_selected', { candidate, because: 'it is the first', skipped }))).toEqual({
      candidate: { provider: 'p', model: 'm' },
      skipped: [{ candidate: { provider: 'p', model: 'm' } }],
    });
    expect(shown('tool.skipped', { name: 't', reason: '/srv' })).toBe('{"name":"t"}');
  });

  it('tells what was reached, and not what went wrong beside it', () => {
    for (const status of ['failed', 'cancelled'])
      expect(shown('subagent.ended', { status, summary: 'open /srv' })).not.toContain('/srv');
    expect(shown('subagent.ended', { status: 'completed', summary: 'Done.' })).toContain('Done.');
    expect(shown('promotion.refused', { what: 'memory', because: '/srv' })).toBe('{"what":"memory"}');
    const evidence = [
      { kind: 'judge', speaks: 'neither', text: '/srv' },
      { kind: 'check', speaks: 'against', text: 'It exited with 1.' },
    ];
    expect(shown('outcome.evaluated', { verdict: 'uncertain', because: '/srv', evidence })).not.toContain('/srv');
    expect(shown('outcome.evaluated', { verdict: 'fail', because: 'It exited with 1.', evidence })).toMatch(
      /because.*It exited.*It exited/,
    );
  });

  it.each([
    ['failures', false],
    ['given_up', false],
    ['budget', true],
    ['idle_wakes', true],
    ['autonomous_wakes', true],
    ['imported', true],
  ] as const)('says why a session is parked, unless the reason may quote a failure: %s', (code, isTold) => {
    expect(shown('session.parked', { code, reason: 'Since /srv.' }).includes('/srv')).toBe(isTold);
    const state = {
      ...initialSessionState({ sessionId: SESSION, agentId: 'a' }),
      ...{ summary: 'I have read it.', parked: { code, reason: 'Since /srv.', seq: 1 } },
    };
    const view = viewOf(state, viewer);
    expect(view.summary).toBe('I have read it.');
    expect(view.parked?.reason.includes('/srv')).toBe(isTold);
    expect(troubleOf(state, viewer)?.includes('/srv')).toBe(isTold);
  });

  it('tells no folder of another session, and leaves web addresses as they are', () => {
    const other = '0192f0c1-2345-7abc-8def-ba9876543210';
    const folder = `/srv/home/agents/a/sessions/${other}/workspace`;
    expect(shown('agent.tool_result', { output: `cd ${folder}/src\n${folder}` })).toBe('{"output":"cd ./src\\n."}');
    const said = `https://x.example/sessions/${other} is not ${other} or /runs/${other}`;
    expect(told(said, place, viewer)).toBe(said);
  });

  it('tells no path of the home, such as that of a worktree, and leaves what only begins or ends like it', () => {
    const worktree = { worktreePath: '/data/h.me/worktrees/scribe-1f', next: 'git -C "/srv/h.me"' };
    expect(JSON.parse(shown('agent.tool_result', { output: { worktree } }))).toEqual({
      output: { worktree: { worktreePath: '<home>/worktrees/scribe-1f', next: 'git -C "<home>"' } },
    });
    expect(told(JSON.stringify({ said: 'in\n/srv/h.me/a' }), place, viewer)).toBe('{"said":"in\\n<home>/a"}');
    const asks = { kind: 'permission', requestId: 'r', eventId: SESSION, toolName: 'write' } as const;
    const waits = [{ ...asks, rules: ['write(/srv/h.me/worktrees/a/**)'] }];
    const state = { ...initialSessionState({ sessionId: SESSION, agentId: 'a' }), pendingActions: waits };
    expect(viewOf(state, viewer).pendingActions[0]?.rules).toEqual(['write(<home>/worktrees/a/**)']);
    const other = '/srv/h.me2 /srv/h-me https://x.example/srv/h.me/a';
    expect(told(other, place, viewer)).toBe(other);
  });

  it('tells what was said as it was, with the folder of the session as a dot', () => {
    const path = `/srv/home/agents/a/sessions/${SESSION}/workspace/b.txt`;
    expect(shown('agent.message', { text: 'The wake failed: I slept on.' })).toContain('I slept on');
    expect(shown('agent.tool_result', { output: { cwd: [path], [SESSION]: 1 } })).toBe(
      `{"output":{"cwd":["./b.txt"],"${SESSION}":1}}`,
    );
  });

  it('is told whatever its text is, by a work that grows no faster than the text', () => {
    const text = `${'/'.repeat(500_000)}${SESSION} ${'/'.repeat(500_000)}${SESSION.repeat(10_000)}`;
    expect(told(text, place, viewer)).toMatch(/\/\. \/+/);
  });

  it('is the same over HTTP, by whichever path of the home it is written', async () => {
    await using served = await serve();
    const { setup } = served;
    const id = await sessionOf(served, []);
    const [link, subject] = [join(setup.home, 'link'), 'ada'];
    await symlink(setup.home, link);
    const { sessions, lacks } = setup.runtime;
    const over = { sessions, lacks, words: setup.runtime.words.bind(setup.runtime), inspection: { home: link } };
    const handler = createHttpHandler(over, { authorize: () => ({ subject }), clock: setup.clock });
    await sessions.send(id, { type: 'user.message', text: `${setup.home}/worktrees/a and ${link}/worktrees/b` });
    const log = await (await handler(new Request(`${AT}/sessions/${id}/events`))).text();
    expect(log).toContain('"<home>/worktrees/a and <home>/worktrees/b"');
  });

  it('is the same over HTTP: nothing of an error that the server stored', async () => {
    await using served = await serve();
    const id = await sessionOf(served, [{ error: { kind: 'auth', message: 'Set SECRET_KEY in /srv/agents' } }]);
    await served.setup.runtime.sessions.send(id, { type: 'user.message', text: 'Hi' });
    await served.setup.runtime.wake(id);
    const log = await (await served.get(`/sessions/${id}/events`)).text();
    expect(log).toContain('RUN_FAILED');
    expect(await (await served.get(`/sessions/${id}`)).json()).toMatchObject({
      failed: { code: 'RUN_FAILED', reason: expect.stringContaining('could not go on') },
    });
    for (const untold of ['SECRET_KEY', '/srv/agents', served.setup.home]) expect(log).not.toContain(untold);
  });
});

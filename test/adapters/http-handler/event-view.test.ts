/** What callers read of a log who do not run the service. */
import { describe, expect, it } from 'vitest';
import { eventFor, told } from '../../../src/adapters/http-handler/event-view.ts';
import { sessionEventDefinitions } from '../../../src/machines/session/event-schemas.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { serve, sessionOf } from './served.ts';

const SESSION = '0192f0c1-2345-7abc-8def-0123456789ab';
const place = { sessionId: SESSION, workspace: undefined };
const viewer = { seesAll: false };

const shown = (type: string, data: object): string =>
  JSON.stringify(eventFor({ type, data, sessionId: SESSION } as unknown as SessionEvent, place, viewer).data);

/** Fields that say where the server runs something, or what went wrong there, whichever event has them. */
const OF_THE_SERVER = ['error', 'workspace', 'host', 'cwd', 'outputPath', 'setAside', 'worktree', 'skipped', 'profile'];

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

  it('is the same over HTTP: nothing of an error that the server stored', async () => {
    await using served = await serve();
    const id = await sessionOf(served, [{ error: { kind: 'auth', message: 'Set SECRET_KEY in /srv/agents' } }]);
    await served.setup.runtime.sessions.send(id, { type: 'user.message', text: 'Hi' });
    await served.setup.runtime.wake(id);
    const log = await (await served.get(`/sessions/${id}/events`)).text();
    expect(log).toContain('RUN_FAILED');
    for (const untold of ['SECRET_KEY', '/srv/agents', served.setup.home]) expect(log).not.toContain(untold);
  });
});

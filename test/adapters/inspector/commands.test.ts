/** What a browser may have a session do, and who may not. */
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { InspectionSource } from '../../../src/actors/inspection/inspection-source.ts';
import { inspected } from './inspector-client.ts';
import type { Answer, AskOptions, Inspected } from './inspector-client.ts';
import { RecordedSource, SESSION } from './recorded-source.ts';

async function open(
  command?: InspectionSource['command'],
): Promise<Inspected & { readonly taken: readonly unknown[] }> {
  const taken: unknown[] = [];
  const take: InspectionSource['command'] = async (sessionId, given) => {
    taken.push([sessionId, given]);
    return { text: 'Interrupted' };
  };
  const source: InspectionSource = Object.assign(new RecordedSource(), { command: command ?? take });
  return { ...(await inspected({ source })), taken };
}

function post({ ask, server }: Inspected, body: unknown, options: AskOptions = {}): Promise<Answer> {
  return ask(`/api/sessions/${SESSION}/commands`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...options,
    headers: { origin: server.origin, 'content-type': 'application/json', ...options.headers },
  });
}

const codeOf = ({ status, text }: Answer): unknown[] => [status, (JSON.parse(text) as { readonly code?: string }).code];

describe('a command', () => {
  it.each([{ type: 'wake' }, { type: 'interrupt' }, { type: 'terminate', reason: 'no use' }])(
    'goes to the source, and its receipt comes back: %j',
    async (command) => {
      const opened = await open();
      const { status, text } = await post(opened, command);
      expect([status, JSON.parse(text)]).toEqual([200, { receipt: { text: 'Interrupted' } }]);
      expect(opened.taken).toEqual([[SESSION, command]]);
    },
  );

  it.each([{}, { type: 'delete' }, { type: 'wake', reason: 'x' }, { type: 'interrupt', reason: '' }, [], 'wake'])(
    'that is none is refused: %j',
    async (command) => {
      const opened = await open();
      expect(codeOf(await post(opened, command))).toEqual([400, 'INSPECTOR_COMMAND_INVALID']);
      expect(opened.taken).toEqual([]);
    },
  );

  it('is taken from a page of ours alone that has signed in', async () => {
    const opened = await open();
    const wake = { type: 'wake' };
    expect((await post(opened, wake, { isStranger: true })).status).toBe(401);
    expect((await post(opened, wake, { headers: { origin: 'http://evil.example' } })).status).toBe(403);
    expect((await post(opened, wake, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
    expect((await opened.ask(`/api/sessions/${SESSION}/commands`)).status).toBe(405);
    expect(opened.taken).toEqual([]);
  });

  it('that the session does not take is told with why', async () => {
    const opened = await open(() =>
      Promise.reject(new RuntimeError('SESSION_TERMINATED', 'it is over', { category: 'conflict', hint: 'Fork it.' })),
    );
    expect(codeOf(await post(opened, { type: 'wake' }))).toEqual([409, 'SESSION_TERMINATED']);
    const none = await inspected();
    expect(codeOf(await post(none, { type: 'wake' }))).toEqual([409, 'INSPECTOR_COMMANDS_NOTHING']);
  });
});

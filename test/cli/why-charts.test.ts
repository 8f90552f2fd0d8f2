/** `wakechart session why` with what the charts of a session say. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainSession } from '../../src/cli/session/why.ts';
import type { CommandContext } from '../../src/cli/context.ts';
import { captured } from './captured.ts';
import { Stage, runs, sleeps } from './stage.ts';

let stage: Stage;
let agents = 0;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

async function playing(...steps: readonly object[]): Promise<string> {
  agents += 1;
  const agentId = `charted-${agents}`;
  await stage.runtime.agents.create({
    agentId,
    source: {
      frontmatter: { name: agentId, provider: 'script', model: 'script.json', permission: 'ask' },
      instructions: 'Ask.',
    },
  });
  await writeFile(
    join(stage.home, 'agents', agentId, 'script.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps }),
  );
  const { sessionId } = await stage.runtime.sessions.create({ agentId });
  await stage.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
  await stage.runtime.wake(sessionId);
  return sessionId;
}

async function shown(
  id: string,
  { verbose, ...more }: Partial<CommandContext> & { readonly verbose?: boolean } = {},
): Promise<string> {
  const { context, text } = captured(stage.home);
  await explainSession({ ...context, ...more }, id, { verbose });
  return text();
}

describe('a session that is asked why', () => {
  it('says in a line where its chart is, and in another what comes by the clock', async () => {
    const id = await playing(runs('touch made'));
    const text = await shown(id);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'Its chart: idle.requires_action. Possible now: WAKE, TERMINATE, RESOLVE. Not possible: REST, REQUIRE_ACTION, RESCHEDULE. More with --verbose.',
    );
    expect(text).toMatch(/By the clock: in (?:7 days|6 days \d+ h), at \d{4}-.+: The request to run shell_run is void/);
    expect(text).not.toContain('Chart of the session');
  });

  it('says all of it with --verbose: who can send what, why not the rest, and what the log takes from outside', async () => {
    const id = await playing(runs('touch made'));
    const text = (await shown(id, { verbose: true })).replaceAll(/\s+/g, ' ');
    expect(text).toContain(
      'Chart of the session: idle.requires_action No wake runs. Nothing runs, and at least one request waits for an answer from outside.',
    );
    expect(text).toContain('+ RESOLVE → idle.resting: The last of what it waited for has been answered or taken back.');
    expect(text).toContain('- REST: not now, it is taken only in running, rescheduling.');
    expect(text).toMatch(/Chart of the call of shell_run \(.+?\): awaiting_permission/);
    expect(text).toMatch(
      /\+ user\.tool_confirmation for request \S+ → a person allows it this once \(user\.tool_confirmation\) .+? session confirm-tool --session/,
    );
    expect(text).toContain('- user.answer is refused: no request of this kind waits [REQUEST_NOT_PENDING].');
  });

  it('says the same to programs', async () => {
    const id = await playing(runs('touch made'));
    const { chart } = JSON.parse(await shown(id, { json: true })) as {
      readonly chart: { readonly session: { readonly possible: readonly { readonly event: string }[] } };
    };
    expect(chart).toMatchObject({
      session: { chart: 'session', states: [{ id: 'idle' }, { id: 'idle.requires_action' }] },
      calls: [{ name: 'shell_run', states: [{ id: 'awaiting_permission' }] }],
      timers: [{ kind: 'expiry', isDue: false }],
    });
    expect(chart.session.possible.map(({ event }) => event)).toEqual(['WAKE', 'TERMINATE', 'RESOLVE']);
  });

  it('is refused exactly what it said would be refused', async () => {
    const id = await playing(sleeps('All done.'));
    const { chart } = JSON.parse(await shown(id, { json: true })) as {
      readonly chart: { readonly ingress: readonly { readonly event: string; readonly code?: string }[] };
    };
    const code = chart.ingress.find(({ event }) => event === 'user.answer')?.code;
    await expect(
      stage.runtime.sessions.send(id, { type: 'user.answer', requestId: 'none', response: 'yes' }),
    ).rejects.toMatchObject({ code });
    await stage.runtime.sessions.terminate(id);
    const text = (await shown(id, { verbose: true })).replaceAll(/\s+/g, ' ');
    expect(text).toContain('- WAKE: not now, it is over.');
    expect(text).toContain('By the clock Nothing: it happens when a person does something.');
    await expect(stage.runtime.wake(id)).rejects.toMatchObject({ code: 'SESSION_TERMINATED' });
  });
});

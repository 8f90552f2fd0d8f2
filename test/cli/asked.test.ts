/** Who may allow a call sees all of it first: where a session stands, why it waits, and what was answered. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownRequests } from '../../src/actors/session/asked-requests.ts';
import { askedLines } from '../../src/cli/session/asked-text.ts';
import { confirmTool } from '../../src/cli/session/ingress.ts';
import type { Confirmation } from '../../src/cli/session/ingress.ts';
import { explainSession } from '../../src/cli/session/why.ts';
import { showStatus } from '../../src/cli/session/session.ts';
import type { CommandContext } from '../../src/cli/context.ts';
import { captured } from './captured.ts';
import { Stage, runs, sleeps } from './stage.ts';

let stage: Stage;
let agents = 0;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

const HOSTILE = 'make build\nrm -rf ~/\u200Bproject \nin /safe/folder';

/** A session whose agent has asked, and waits. */
async function asking(
  ...steps: readonly object[]
): Promise<{ readonly id: string; readonly workspace: string; readonly requestId: string }> {
  agents += 1;
  const agentId = `asker-${agents}`;
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
  const { sessionId: id } = await stage.runtime.sessions.create({ agentId });
  await stage.runtime.sessions.send(id, { type: 'user.message', text: 'Begin.' });
  await stage.runtime.wake(id);
  const [action] = (await stage.runtime.sessions.status(id)).pendingActions;
  return {
    id,
    workspace: join(stage.home, 'agents', agentId, 'sessions', id, 'workspace'),
    requestId: action?.requestId ?? '',
  };
}

async function shown(
  command: (context: CommandContext) => Promise<number>,
  more: Partial<CommandContext> = {},
): Promise<string> {
  const { context, text } = captured(stage.home);
  await command({ ...context, ...more });
  return text();
}

const status = (id: string): Promise<string> => shown((context) => showStatus(context, id));
const why = (id: string): Promise<string> => shown((context) => explainSession(context, id));
const confirmation = { allow: true, deny: false, note: undefined, scope: undefined } as const;
const confirm = (session: string, request: string, more: Partial<Confirmation> = {}): Promise<string> =>
  shown((context) => confirmTool(context, { ...confirmation, session, request, ...more }));

describe('a call that waits to be allowed', () => {
  it('is shown where the session stands: all of it, where it would run, why, and how far a yes would reach', async () => {
    const { id, workspace, requestId } = await asking(runs('touch made'));
    expect(await status(id)).toMatch(
      new RegExp(
        String.raw`^waits for +permission to run shell_run \(request ${requestId}\)\n {4}│ touch made\n {4}in ${workspace}\n {4}because .+\n {4}"session" \(in this session\) and "always" \(in every session of asker-\d+\) would allow from then on:\n {6}shell_run\(touch made \$\)\n {4}until \d{4}-.*; then the call is denied$`,
        'm',
      ),
    );
  });

  it('hides nothing, and nothing in it passes for what is said about it', async () => {
    const { id, workspace } = await asking(runs(HOSTILE));
    for (const text of [await status(id), await why(id)]) {
      expect(text).toContain('│ make build\n');
      expect(text).toContain('│ rm -rf ~/\\u{200B}project·\n');
      expect(text).toContain('│ in /safe/folder\n');
      expect(text.match(/^ +in .*$/gm)).toEqual([expect.stringContaining(`in ${workspace}`)]);
      expect(text).toContain('It holds characters beyond plain ASCII: \\u{200B}.');
      expect(text).toContain('it can be allowed once only');
    }
  });

  it('is shown in full before the command that allows it', async () => {
    const end = 'rm -rf the/end';
    const { id } = await asking(runs(`echo ${'x'.repeat(20_000)}\n${'true\n'.repeat(300)}${end}`));
    const text = await why(id);
    expect(text).toContain('x'.repeat(20_000));
    expect(text.match(/│ true$/gm)).toHaveLength(300);
    expect(text.indexOf(end)).toBeGreaterThan(0);
    expect(text.indexOf(end)).toBeLessThan(text.indexOf('--allow'));
  });

  it('is told once it is answered, with the rules that hold from then on', async () => {
    const once = await asking(runs(HOSTILE));
    expect(await confirm(once.id, once.requestId)).toMatch(
      /^Stored as event \d+ .*\nAllowed this once: shell_run\n {2}│ make build\n {2}│ rm -rf ~\/\\u\{200B\}project·\n {2}│ in \/safe\/folder\n(?: {2}It holds .*\n) {2}in \/.*\nA worker /,
    );
    const denied = await asking(runs('touch made'));
    expect(await confirm(denied.id, denied.requestId, { allow: false, deny: true })).toMatch(
      /\nDenied: shell_run\n {2}│ touch made\n {2}in .*\nA worker /,
    );
    const always = await asking(runs('touch made'));
    expect(await confirm(always.id, always.requestId, { scope: 'always' })).toMatch(
      /│ touch made\n {2}in .*\nAllowed in every session of this agent from now on: shell_run\(touch made \$\)\n/,
    );
  });

  it('is told to programs as it was asked', async () => {
    const { id, requestId, workspace } = await asking(runs(HOSTILE));
    const asked = { kind: 'permission', requestId, toolName: 'shell_run', input: { command: HOSTILE }, cwd: workspace };
    const json = async (command: (context: CommandContext) => Promise<number>): Promise<unknown> =>
      JSON.parse(await shown(command, { json: true }));
    expect(await json((context) => showStatus(context, id))).toMatchObject({ asked: [asked] });
    expect(await json((context) => explainSession(context, id))).toMatchObject({
      reasons: [{ kind: 'permission', asked }],
    });
    expect(
      await json((context) => confirmTool(context, { ...confirmation, session: id, request: requestId })),
    ).toMatchObject({ acceptedAs: 'queue', asked });
  });

  it('and whose time is over is shown without what an approval would allow', async () => {
    const { id } = await asking(runs('touch made'));
    const { context } = captured(stage.home);
    const [asked] = await ownRequests(stage.runtime.sessions, await stage.runtime.sessions.status(id));
    expect(askedLines(asked, { out: context.out, indent: '', tells: 'call' })).toEqual([
      '│ touch made',
      expect.stringMatching(/^in /),
    ]);
  });
});

describe('whatever else waits for somebody', () => {
  it('is shown in full too: the choices of a question, the input of a tool that is run elsewhere', async () => {
    const { id } = await asking({
      toolCalls: [
        { name: 'ask_human', input: { question: 'Which one?\nlog  /elsewhere', choices: ['red', 'blue\n2. green'] } },
      ],
    });
    expect(await status(id)).toMatch(
      /^waits for +an answer: Which one\? log \/elsewhere \(request .*\)\n {4}1\. red\n {4}2\. blue 2\. green\n/m,
    );
    const custom = await stage.sessionToWake(
      sleeps('asked', { customToolRequest: { name: 'deploy', input: { to: 'production\nnow' } } }),
    );
    await stage.runtime.wake(custom.id);
    for (const text of [await status(custom.id), await why(custom.id)])
      expect(text).toMatch(/│ to:\n +│ {3}production\n +│ {3}now\n/);
  });

  it('is found wherever it stands in a long log, from little of it', async () => {
    const { id } = await stage.sessionToWake(
      sleeps('asked', { customToolRequest: { name: 'deploy', input: { to: 'production' } } }),
    );
    await stage.runtime.wake(id);
    for (let count = 0; count < 120; count += 1)
      await stage.runtime.sessions.send(id, { type: 'user.message', text: `More ${count}.` });
    const state = await stage.runtime.sessions.status(id);
    const reads: (readonly [number | undefined, number | undefined])[] = [];
    const { sessions } = stage.runtime;
    const counting: Pick<typeof sessions, 'events'> = {
      events: (sessionId, options) => {
        reads.push([options?.from, options?.limit]);
        return sessions.events(sessionId, options);
      },
    };
    const asked = await ownRequests(counting, state);
    expect(asked).toMatchObject([{ kind: 'custom_tool', data: { name: 'deploy', input: { to: 'production' } } }]);
    expect(reads.map(([, limit]) => limit)).toEqual([50, state.head - 50]);
    expect(await ownRequests(sessions, { ...state, pendingActions: [] })).toEqual([]);
  });

  it('and cannot be found any more is said to be missing', async () => {
    const { id } = await asking(runs('touch made'));
    const state = await stage.runtime.sessions.status(id);
    const [action] = state.pendingActions;
    if (action === undefined) throw new Error('nothing waits');
    const lost = await ownRequests(stage.runtime.sessions, {
      ...state,
      pendingActions: [{ ...action, eventId: 'gone' }],
    });
    expect(lost).toEqual([]);
    const { context } = captured(stage.home);
    expect(askedLines(lost[0], { out: context.out, indent: '  ' })).toEqual([
      '  what it asks for cannot be read from the log; allow nothing that you have not seen',
    ]);
  });
});

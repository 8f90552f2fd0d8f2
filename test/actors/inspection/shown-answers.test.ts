/** Sessions as people read of them: in order, in words, processes as trees. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  InspectedProcess,
  InspectedRequest,
  InspectedSession,
  InspectedSessionSummary,
} from '../../../src/actors/inspection/inspection-source.ts';
import type { InspectedWake } from '../../../src/machines/inspection-log/session-usage.ts';
import {
  shownChanges,
  shownProcesses,
  shownSession,
  shownSessions,
  shownSteps,
} from '../../../src/actors/inspection/shown-answers.ts';
import type { ShownProcess } from '../../../src/actors/inspection/shown-answers.ts';
import { partsOf } from '../../../src/machines/inspection-log/data-parts.ts';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';

function summary(sessionId: string, changes: Partial<InspectedSessionSummary> = {}): InspectedSessionSummary {
  return { sessionId, agentId: 'fixer', status: 'idle', stopReason: 'idle', pendingActions: 0, ...changes };
}

describe('sessions in a list', () => {
  it('are ordered: those that wait for an answer, those that need attention, then those that changed last', () => {
    const sessions = [
      summary('old', { updatedAt: '2026-01-01T00:00:00.000Z' }),
      summary('new', { updatedAt: '2026-01-02T00:00:00.000Z' }),
      summary('waits', { pendingActions: 1 }),
      summary('over', { pendingActions: 1, status: 'terminated' }),
      summary('parked', { why: { kind: 'parked', text: '' } }),
    ];
    const shown = shownSessions({ sessions, total: 5 });
    expect(shown.sessions.map(({ sessionId, need }) => [sessionId, need])).toEqual([
      ['waits', 'answer'],
      ['parked', 'attention'],
      ['new', undefined],
      ['old', undefined],
      ['over', undefined],
    ]);
    expect(shown.total).toBe(5);
  });

  it.each([
    [summary('s', { why: { kind: 'permission', text: '' }, pendingActions: 1 }), 'waits for your permission'],
    [summary('s', { why: { kind: 'unreadable', text: '' } }), 'cannot be read'],
    [summary('s', { pendingActions: 1 }), 'waits for you'],
    [summary('s', { pendingActions: 2 }), 'waits for you, 2 times'],
    [summary('s', { stopReason: 'requires_action' }), 'waits for another agent'],
    [summary('s', { status: 'running' }), 'runs'],
    [summary('s', { status: 'terminated' }), 'is terminated'],
    [summary('s'), 'rests'],
  ])('say how they stand', (session, text) => {
    expect(shownSessions({ sessions: [session], total: 1 }).sessions[0]?.words.text).toBe(text);
  });
});

describe('a session', () => {
  const wake = (outcome?: InspectedWake['outcome']): InspectedWake => ({
    wakeId: 'w',
    startedAt: '2026-01-01T00:00:00.000Z',
    steps: 1,
    toolCalls: 0,
    tokens: 5,
    cost: 0.25,
    ...(outcome === undefined ? {} : { outcome }),
  });
  const session = (wakes: readonly InspectedWake[], pendingActions: number): InspectedSession => {
    const action = {
      requestId: 'r',
      eventId: 'e',
      kind: 'permission',
      toolName: 'deploy',
    } as unknown as InspectedSession['pendingActions'][number];
    const state = {
      ...initialSessionState({ sessionId: 's', agentId: 'a' }),
      pendingActions: Array.from({ length: pendingActions }, () => action),
    };
    return {
      state,
      why: { sessionId: 's', status: 'idle', reasons: [] } as unknown as InspectedSession['why'],
      pendingActions: [],
      usage: { inputTokens: 1_200, outputTokens: 3, cost: 0.05, isCostPartial: true, wakes, wakeCount: wakes.length },
      at: 0,
    };
  };

  it('tells how its wakes ended, and which of them still waits for a person', () => {
    const wakes = [wake('failed'), wake('requires_action'), wake('requires_action')];
    expect(
      shownSession(session(wakes, 1)).usage.wakes.map(({ words, price }) => [words.text, words.status, price]),
    ).toEqual([
      ['failed', 'error', '$0.25'],
      ['waited for an answer', 'quiet', '$0.25'],
      ['waits for an answer', 'waiting', '$0.25'],
    ]);
    expect(shownSession(session(wakes, 0)).usage.wakes.at(-1)?.words.text).toBe('waited for an answer');
    expect(shownSession(session([wake()], 0)).usage.wakes[0]?.words).toEqual({ text: 'runs', status: 'running' });
    expect(
      shownSession(session([wake('of another version' as string as InspectedWake['outcome'])], 0)).usage.wakes[0]
        ?.words,
    ).toEqual({ text: 'of another version', status: 'quiet' });
  });

  it('tells what it used in all, and how it stands', () => {
    const { usage, words, verdict } = shownSession(session([wake('sleep')], 0));
    expect([usage.words, words.text, verdict]).toEqual([
      '1 wake · 1,200 tokens read, 3 written · at least $0.0500',
      'rests',
      undefined,
    ]);
  });
});

describe('a request', () => {
  const shown = (request: object, reasons: readonly object[] = []): ReturnType<typeof shownSession> => {
    const asked = {
      requestId: 'r',
      eventId: 'e',
      kind: 'permission',
      toolName: 'deploy',
      ...request,
    } as unknown as InspectedRequest;
    const state = initialSessionState({ sessionId: 's', agentId: 'a' });
    return shownSession({
      state,
      why: { sessionId: 's', agentId: 'a', status: 'idle', reasons } as unknown as InspectedSession['why'],
      pendingActions: [asked],
      usage: { inputTokens: 0, outputTokens: 0, isCostPartial: false, wakes: [], wakeCount: 0 },
      at: 0,
    });
  };
  const first = (request: object): unknown => shown(request).pendingActions[0];

  it('is told part by part, with why it asks', () => {
    expect(first({ input: { command: 'ls', limit: 3 }, question: 'It may write.' })).toEqual({
      requestId: 'r',
      eventId: 'e',
      kind: 'permission',
      toolName: 'deploy',
      question: 'It may write.',
      because: 'It may write.',
      parts: [
        { name: 'command', text: 'ls', isShort: false },
        { name: 'limit', text: '3', isShort: true },
      ],
      choices: [],
      warnings: [],
    });
    expect(first({ input: {}, question: 'It may write.', because: 'A rule asks.' })).toMatchObject({
      because: 'A rule asks.',
    });
  });

  it('warns of what is not there, of what was cut, and of what looks like something else', () => {
    expect(first({})).toMatchObject({ parts: [], warnings: [expect.stringContaining('could not be looked up')] });
    expect(first({ input: { command: 'pаy' }, isCut: true })).toMatchObject({
      warnings: [expect.stringContaining('There is more of it'), 'It holds characters beyond plain ASCII: а (U+0430).'],
    });
  });

  it.each([
    [{ choices: ['a', '', 3, 'b'] }, ['a', 'b']],
    [{ choices: 'a' }, []],
    [undefined, []],
    [null, []],
    ['a', []],
  ])('that is a question lets choose among what is text: %j', (input, choices) => {
    expect(first({ kind: 'answer', input })).toMatchObject({ choices, parts: [], warnings: [] });
  });

  it('is told though the explanation beside it was cut', () => {
    expect(shown({}, [{}]).why.reasons).toEqual([{ text: '', movers: [] }]);
  });

  it('says once why it asks, and who can move the session on', () => {
    const reason = {
      kind: 'permission',
      text: 'It waits for permission to run deploy (It may write (much)).',
      movers: [{ who: 'person', events: [], does: 'allows it' }],
    };
    expect(shown({}, [reason]).why.reasons).toMatchObject([
      { text: 'It waits for permission to run deploy.', movers: [{ text: 'A person allows it', does: 'allows it' }] },
    ]);
  });
});

describe('processes', () => {
  const countOf = (branches: readonly ShownProcess[]): number =>
    branches.reduce((sum, { children }) => sum + 1 + countOf(children), 0);

  it('are each in the tree once, whichever is said to be under which', () => {
    const process = fc.record({
      pid: fc.integer({ min: 1, max: 6 }),
      parentPid: fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(process), (all) => {
        const processes = all.map((each): InspectedProcess => ({
          ...each,
          title: 'x',
          state: 'running',
          host: 'this',
        }));
        expect(countOf(shownProcesses(processes, undefined).processes)).toBe(processes.length);
      }),
    );
  });

  it('are under the one that they are shown under', () => {
    const { processes } = shownProcesses(
      [
        { pid: 2, parentPid: 1, title: 'test', state: 'running', host: 'this' },
        { pid: 1, title: 'worker', state: 'running', host: 'this' },
      ],
      undefined,
    );
    const [root] = processes;
    expect([root?.pid, root?.children.map(({ pid }) => pid)]).toEqual([1, [2]]);
  });

  it('are shown once where the program that owns them tells them too', () => {
    const make = { pid: 7, title: 'make', state: 'running', taskId: 'one' } as const;
    const left = { pid: 9, title: 'left', state: 'running', host: 'dead' } as const;
    const shown = shownProcesses([{ ...make, host: 'other' }, left], {
      owner: 'far:1',
      is: 'told',
      processes: [{ ...make, host: 'this' }],
    });
    expect([shown.processes.map(({ pid }) => pid), shown.far?.processes.map(({ pid }) => pid)]).toEqual([[9], [7]]);
  });
});

describe('changes', () => {
  it('are told line by line, and not as a text besides', () => {
    const { differences, ...rest } = shownChanges({
      title: 'the workspace',
      files: [],
      fileCount: 0,
      difference: 'diff --git a/n b/n\n@@ -0,0 +1 @@\n+x\n',
      isCut: false,
    });
    expect([differences.map(({ path, added }) => [path, added]), rest]).toEqual([
      [['n', 1]],
      { title: 'the workspace', files: [], fileCount: 0, isCut: false },
    ]);
  });
});

describe('a transcript', () => {
  const event = (type: string, data: object): SessionEvent =>
    ({ id: 'e', seq: 1, at: '2026-01-01T00:00:00.000Z', sessionId: 's', type, v: 1, data }) as unknown as SessionEvent;

  it('tells what a writing call changes once, and not its input besides', () => {
    const { steps } = shownSteps({
      events: [event('agent.tool_use', { callId: 'c', name: 'write', input: { path: 'a', content: 'x' } })],
      head: 9,
    });
    expect(JSON.parse(JSON.stringify(steps))).toEqual([
      {
        seq: 1,
        type: 'agent.tool_use',
        t: 1_767_225_600_000,
        callId: 'c',
        call: {
          name: 'write',
          path: 'a',
          changes: { lines: ['+x'], omitted: 0 },
          state: 'requested',
          told: 'asked for',
          status: 'quiet',
        },
      },
    ]);
  });

  it.each([
    [{ exitCode: 0, stdout: 'x' }, 'exit 0', 'done', { stdout: 'x' }],
    [{ exitCode: 2, stderr: '' }, 'exit 2', 'error', {}],
    [{ signalCode: 'SIGKILL' }, 'ended by SIGKILL', 'error', { signalCode: 'SIGKILL' }],
    ['text', 'completed', 'done', 'text'],
    [[1], 'completed', 'done', [1]],
  ])('tells how a call ended that gave %j', (output, told, status, value) => {
    const { steps } = shownSteps({
      events: [event('agent.tool_result', { callId: 'c', name: 'shell_run', outcome: 'completed', output })],
      head: 1,
    });
    expect(steps[0]?.call).toMatchObject({
      told,
      status,
      output: { parts: partsOf(value), characters: JSON.stringify(output).length },
    });
  });

  it('says so where too much of an event was cut away to tell it', () => {
    const types = [
      'run.attempt_failed',
      'wake.ended',
      'agent.tool_use',
      'agent.tool_result',
      'outcome.evaluated',
      'span.completed',
      'user.message',
      'no.such.type',
      '__proto__',
      'constructor',
      'toString',
    ];
    for (const type of types)
      expect(shownSteps({ events: [event(type, {})], head: 1 }).steps).toMatchObject([{ seq: 1, type }]);
  });

  it('takes no more space for a value that is nested deeply than twice and again what the value takes', () => {
    let output: unknown = Array.from({ length: 2_000 }, () => 1);
    for (let depth = 0; depth < 30; depth += 1) output = [output];
    const { steps } = shownSteps({
      events: [event('user.custom_tool_result', { requestId: 'r', toolName: 'x', output })],
      head: 1,
    });
    expect(JSON.stringify(steps).length).toBeLessThan(5 * JSON.stringify(output).length);
  });
});

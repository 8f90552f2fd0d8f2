import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oneLine, table } from '../../../src/machines/artifact/artifact.ts';
import { EMPTY_TAIL, MAX_FEED_EVENTS, extendTail } from '../../../src/machines/artifact/log-tail.ts';
import { ARTIFACT_NAMES } from '../../../src/machines/artifact/artifact-names.ts';
import { sessionArtifacts } from '../../../src/machines/artifact/session-artifacts.ts';
import type { SessionFacts } from '../../../src/machines/artifact/session-artifacts.ts';
import { MAX_TRACES } from '../../../src/machines/artifact/trace-list.ts';
import type { AgentDefinition } from '../../../src/machines/agent/agent-definition.ts';
import { SANDBOXED_ENVIRONMENT } from '../../../src/machines/environment/environment-definition.ts';
import { contextReport } from '../../../src/machines/turn/context-report.ts';
import { editDefinition } from '../../../src/machines/turn/files/edit-file.ts';
import { readDefinition } from '../../../src/machines/turn/files/read-file.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import {
  IDENTITY,
  START,
  created,
  eventAt,
  foldAll,
  idOf,
  logOf,
  message,
  running,
} from '../../support/session-events.ts';

const VALUE = 'the-value-of-a-variable';

const call = (callId: string, name: string, input: unknown, output: unknown): readonly SessionEventDraft[] => [
  { type: 'agent.tool_use', data: { callId, name, input, spanId: 'span-1' } },
  { type: 'agent.tool_started', data: { callId } },
  { type: 'agent.tool_result', data: { callId, name, outcome: 'completed', output } },
];

const drafts: readonly SessionEventDraft[] = [
  created,
  message('Tidy up | the docs.\nAll of them.'),
  {
    type: 'user.define_outcome',
    data: { title: 'The docs are tidy', detail: 'Every page.', criteria: ['npm test exits with 0'] },
  },
  running,
  { type: 'wake.started', data: { wakeId: 'wake-1', epoch: 1, owner: 'test', queuedWakeIds: [], trigger: 'ingress' } },
  {
    type: 'span.started',
    data: { spanId: 'span-1', kind: 'model_step', backend: 'script', provider: 'script', model: 'play.json', step: 1 },
  },
  {
    type: 'span.completed',
    data: {
      spanId: 'span-1',
      kind: 'model_step',
      outcome: 'completed',
      modelSteps: 1,
      usage: { inputTokens: 100, outputTokens: 20 },
    },
  },
  ...call('call-1', 'shell_run', { command: 'npm test' }, { output: 'ok 12\n', exitCode: 0, signalCode: null }),
  ...call(
    'call-2',
    'shell_set_env',
    { shell: 'main', name: 'TOKEN', value: VALUE },
    { shell: 'main', name: 'TOKEN', set: true },
  ),
  ...call('call-3', 'shell_open', { shell: 'main', env: { KEY: VALUE } }, { shell: 'main', cwd: '/workspace' }),
  {
    type: 'permission.requested',
    data: {
      requestId: 'request-1',
      callId: 'call-4',
      toolName: 'shell_set_env',
      input: { name: 'TOKEN', value: VALUE },
      because: 'no rule allows it',
    },
  },
  { type: 'session.child_created', data: { childSessionId: idOf(900), agentId: 'scribe', label: 'notes' } },
];

const agent = {
  agentId: 'tester',
  permission: { mode: 'ask', allow: ['write(/runtime/**)'], ask: [], deny: ['shell_run(git push)', 'read(**/*.pem)'] },
  budget: { maxTokensPerSession: 5_000, maxModelStepsPerWake: 10 },
} as unknown as AgentDefinition;

function facts(events = logOf(...drafts)): SessionFacts {
  return {
    state: { ...foldAll(events), sessionRules: ['shell_run(npm test)'] },
    agent: {
      definition: agent,
      tools: [readDefinition, editDefinition],
      skipped: [{ name: 'docs__search', reason: 'the server cannot be reached' }],
    },
    environment: {
      definition: {
        ...SANDBOXED_ENVIRONMENT,
        environmentId: 'careful',
        vaults: ['github'],
        quota: { maxBytes: 1_000_000 },
        permission: { mode: 'ask', ask: [], deny: ['read(**/*.pem)'] },
        budget: { maxTokensPerSession: 5_000 },
        variables: { pass: ['LANG'], set: { MODE: VALUE } },
      },
      fingerprint: 'abc123',
      within: ['strict'],
      sandbox: 'bubblewrap',
      mounts: [
        { kind: 'workspace', path: '/workspace', directory: '/somewhere/on/the/host', access: 'rw' },
        { kind: 'agent', path: '/workspace/agent', directory: '/somewhere/else', access: 'ro' },
        { kind: 'skills', path: '/skills', directory: '/somewhere/skills', access: 'ro' },
        { kind: 'skills', path: '/agent-skills', directory: '/somewhere/own-skills', access: 'ro' },
        { kind: 'vault', path: '/vaults/github', access: 'none' },
      ],
      secrets: [
        { reference: 'github/token', description: 'for pull requests', hosts: ['api.github.com'], isForCommands: true },
      ],
    },
    context: contextReport({
      instructions: 'x'.repeat(4_000),
      tools: [],
      messages: [],
      maxTokens: 10_000,
      reservedForOutput: 2_000,
    }),
    shells: [
      {
        shell: 'main',
        open: true,
        cwd: '/workspace/docs',
        variables: ['TOKEN'],
        entries: [{ command: 'npm test', startedAt: START, status: 'running' }],
      },
    ],
    tail: extendTail(EMPTY_TAIL, events),
  };
}

describe('the facts of a session', () => {
  it('are files whose names are known, so that they count for no quota', () => {
    expect(
      sessionArtifacts(facts())
        .map(({ name }) => name)
        .filter((name) => !ARTIFACT_NAMES.has(name)),
    ).toEqual([]);
  });

  it.each(sessionArtifacts(facts()).map(({ name }) => name))('are laid out in %s', async (name) => {
    const text = sessionArtifacts(facts()).find((artifact) => artifact.name === name)?.text ?? '';
    await expect(text).toMatchFileSnapshot(`laid-out/${name}`);
  });

  it('are the same files for the same facts, each with a name of its own', () => {
    expect(sessionArtifacts(facts())).toEqual(sessionArtifacts(facts()));
    const names = sessionArtifacts(facts()).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z][a-z-]*\.(?:md|json|jsonl|txt)$/);
  });

  it('hold names of variables and secrets, and never a value of a variable', () => {
    const all = sessionArtifacts(facts())
      .map(({ text }) => text)
      .join('\n');
    for (const name of ['TOKEN', 'KEY', 'MODE', 'LANG', 'github/token']) expect(all).toContain(name);
    expect(all).not.toContain(VALUE);
    expect(all).not.toContain('/somewhere');
  });

  it('name each mount as commands see it: in a sandbox by its name there, on the host by its real folder', () => {
    const { environment, ...rest } = facts();
    if (environment === undefined) throw new Error('an environment');
    const mounts = (sandbox: string | undefined): string =>
      sessionArtifacts({ ...rest, environment: { ...environment, sandbox } }).find(({ name }) => name === 'mounts.md')
        ?.text ?? '';
    expect(mounts('bubblewrap')).toContain('| /workspace/agent | read | /agent |');
    expect(mounts('bubblewrap')).not.toContain('/somewhere');
    expect(mounts(undefined)).toContain('| /workspace/agent | read | /somewhere/else |');
    expect(mounts(undefined)).toContain('The names are for the tools for files only.');
    expect(mounts(undefined)).toMatch(/\| \/vaults\/github \| by name only \| not there \|/);
  });

  it('say who set each bound and each rule, and what is left', () => {
    const budgetsOf = (given: SessionFacts): unknown =>
      (
        JSON.parse(sessionArtifacts(given).find(({ name }) => name === 'permissions.json')?.text ?? '') as {
          budgets: unknown;
        }
      ).budgets;
    const base = facts();
    expect(budgetsOf(base)).toContainEqual({
      bound: 'maxTokensPerSession',
      limit: 5_000,
      from: 'environment',
      used: 120,
      left: 4_880,
    });
    expect(budgetsOf(base)).toContainEqual({
      bound: 'maxModelStepsPerWake',
      limit: 10,
      from: 'agent',
      used: 1,
      left: 9,
    });
    // What the first step of the next wake will find is what the last one has left: nothing has to be written for it.
    const { openWake: _, ...resting } = base.state;
    expect(budgetsOf({ ...base, state: resting })).toContainEqual({
      bound: 'maxModelStepsPerWake',
      limit: 10,
      from: 'agent',
      used: 0,
      left: 10,
    });
    const allowed = {
      ...base,
      state: {
        ...base.state,
        allowance: { tokens: 200, cost: 0.5 },
        jobs: [{ jobId: 'job-1', childSessionId: idOf(901), agentId: 'scribe', allowance: { tokens: 70 } }],
      },
    } as unknown as SessionFacts;
    expect(budgetsOf(allowed)).toContainEqual({
      bound: 'maxTokensPerSession',
      limit: 200,
      from: 'its parent',
      used: 120,
      left: 10,
    });
    expect(budgetsOf(allowed)).toContainEqual({
      bound: 'maxCostPerSession',
      limit: 0.5,
      from: 'its parent',
      used: 0,
      left: 0.5,
    });
  });

  it('say one share of the context, which is never more than its level begins at', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 200_000 }),
        fc.integer({ min: 0, max: 400_000 }),
        (maxTokens, reservedForOutput) => {
          const context = contextReport({ instructions: '', tools: [], messages: [], maxTokens, reservedForOutput });
          const text = sessionArtifacts({ ...facts(), context }).find(({ name }) => name === 'context.md')?.text ?? '';
          const [, level = '', first = ''] = /Pressure: (\w+)\. .*\((\d+) %\)/.exec(text) ?? [];
          expect(text).toContain(`| all of that | ${context.total} | ${first} % |`);
          const share = Number(first);
          expect(level).toBe(share >= 90 ? 'critical' : share >= 75 ? 'high' : share >= 50 ? 'moderate' : 'low');
        },
      ),
    );
  });

  it('say so where there is nothing to say', () => {
    const { state } = facts(logOf(created));
    const files = new Map(
      sessionArtifacts({ state, agent: { definition: agent, tools: [], skipped: [] }, tail: EMPTY_TAIL }).map(
        ({ name, text }) => [name, text],
      ),
    );
    expect(files.get('environment.md')).toContain('Nothing is shut in');
    expect(files.get('outcome.md')).toContain('No outcome is defined');
    expect(files.has('context.md')).toBe(false);
    expect(files.get('index.md')).not.toContain('context.md');
  });

  it('say when an evaluation is out of date', () => {
    const evaluated: SessionEventDraft = {
      type: 'outcome.evaluated',
      data: { verdict: 'pass', because: 'npm test exited with 0', evidence: [], throughSeq: 10, evaluators: ['log'] },
    };
    const outcome = (...more: readonly SessionEventDraft[]): string =>
      sessionArtifacts(facts(logOf(...drafts.slice(0, 10), evaluated, ...more))).find(
        ({ name }) => name === 'outcome.md',
      )?.text ?? '';
    expect(outcome()).toContain('pass');
    expect(outcome(...call('call-9', 'write', { path: 'a' }, {}))).toContain('evaluate again');
  });
});

describe('the end of a log', () => {
  it('is the same whether it is taken in at once or piece by piece, and twice is once', () => {
    const log = Array.from({ length: 150 }, (_, index) =>
      logOf(...drafts).map((event) => ({ ...event, seq: index * drafts.length + event.seq })),
    ).flat();
    const whole = extendTail(EMPTY_TAIL, log);
    expect([whole.feed.length, whole.traces.length]).toEqual([MAX_FEED_EVENTS, MAX_TRACES]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: log.length }), { maxLength: 6 }), (cuts) => {
        const at = [0, ...cuts.toSorted((one, other) => one - other), log.length];
        const pieces = at.slice(1).map((end, index) => log.slice(Math.max(0, (at[index] ?? 0) - 5), end));
        expect(pieces.reduce(extendTail, EMPTY_TAIL)).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  it('tells how long a call took from when it began to run', () => {
    const [use, started, result] = call('c', 'shell_run', { command: 'x' }, { output: '', exitCode: 3 });
    if (use === undefined || started === undefined || result === undefined) throw new Error('three drafts');
    const at = (seq: number, draft: SessionEventDraft, seconds: number) => ({
      ...eventAt(seq, draft),
      at: new Date(Date.parse(START) + seconds * 1_000).toISOString(),
    });
    const tail = extendTail(EMPTY_TAIL, [at(1, use, 0), at(2, started, 60), at(3, result, 62)]);
    expect(tail.traces).toMatchObject([{ durationMs: 2_000, outcome: 'completed' }]);
    expect(tail.commands).toMatchObject([{ command: 'x', exitCode: 3 }]);
  });

  it('is bounded however much an event says', () => {
    const tail = extendTail(
      EMPTY_TAIL,
      logOf(
        message('x'.repeat(200_000)),
        ...call('c', 'shell_run', { command: 'y'.repeat(50_000) }, { output: 'z'.repeat(500_000), exitCode: 0 }),
      ),
    );
    expect(JSON.stringify(tail).length).toBeLessThan(70_000);
    expect(tail.lastOutput?.text.endsWith('z')).toBe(true);
  });
});

describe('text in a table', () => {
  it('stays in its cell whatever it is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 400 }),
        fc.string({ unit: fc.constantFrom('|', '\\', '\n', '\r', '\u2028', 'a', '😀'), maxLength: 400 }),
        (one, other) => {
          const lines = table(['a', 'b'], [[one, other]]).split('\n');
          expect(lines).toHaveLength(3);
          expect(lines[2]?.replaceAll(/\\./g, '').split('|')).toHaveLength(4);
          // eslint-disable-next-line no-control-regex -- what must not be there
          expect(oneLine(one)).not.toMatch(/[\u0000-\u001f\u2028\u2029]/);
        },
      ),
    );
  });
});

it('of another session than its own says nothing', () => {
  expect(sessionArtifacts(facts()).find(({ name }) => name === 'index.md')?.text).toContain(IDENTITY.sessionId);
});

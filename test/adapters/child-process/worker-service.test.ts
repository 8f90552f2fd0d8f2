/** What a worker makes of what its parent says: its side of the talk, without a process around it. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NewAgent } from '../../../src/actors/session/agent-catalog.ts';
import type { SubagentJobHandle, SubagentJobStart } from '../../../src/actors/subagent/subagent-runner.ts';
import { createWorkerService } from '../../../src/adapters/child-process/worker-service.ts';
import type { WorkerRuntimeOptions } from '../../../src/adapters/child-process/worker-service.ts';
import type { WorkerService } from '../../../src/adapters/child-process/worker-life.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { readChildMessage } from '../../../src/machines/subagent/worker-messages.ts';

interface Said {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface ServedJob {
  readonly service: WorkerService;
  readonly said: Said[];
  readonly setups: WorkerRuntimeOptions[];
  readonly closed: string[];
  readonly agents: NewAgent[];
  readonly starts: SubagentJobStart[];
  readonly exits: number[];
  /** Settles the job that runs. */
  settle(outcome: { readonly output: string; readonly metadata?: Readonly<Record<string, unknown>> } | Error): void;
  ended(): Promise<void>;
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'service-'));
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

function serve({
  open = async () => undefined,
  handle = {},
}: { readonly open?: () => Promise<void>; readonly handle?: Partial<SubagentJobHandle> } = {}): ServedJob {
  const parts = {
    said: [] as Said[],
    setups: [] as WorkerRuntimeOptions[],
    closed: [] as string[],
    agents: [] as NewAgent[],
    starts: [] as SubagentJobStart[],
    exits: [] as number[],
  };
  let settle: ServedJob['settle'] = () => undefined;
  const service = createWorkerService(async (options) => {
    parts.setups.push(options);
    await open();
    return {
      runner: {
        start(start) {
          parts.starts.push(start);
          const result = new Promise<{ jobId: string; output: string }>((resolve, reject) => {
            settle = (outcome) =>
              outcome instanceof Error ? reject(outcome) : resolve({ jobId: start.jobId, ...outcome });
          });
          return {
            jobId: start.jobId,
            result,
            cancel: (reason) => settle(new Error(`stopped: ${reason ?? ''}`)),
            ...handle,
          };
        },
      },
      createAgent: async (agent) => parts.agents.push(agent),
      close: async (reason) => void parts.closed.push(reason),
    };
  })({
    folder,
    transmit(value, done) {
      parts.said.push(value as Said);
      done(null);
    },
    guarded: Promise.resolve(),
    exit: (code) => void parts.exits.push(code),
  });
  return {
    ...parts,
    service,
    settle: (outcome) => settle(outcome),
    ended: () => vi.waitFor(() => expect(parts.exits).toHaveLength(1)),
  };
}

const request = {
  kind: 'agent',
  agentType: 'worker',
  label: 'job',
  prompt: 'Go.',
  cwd: '/w',
  worktreePath: '/w',
  branchName: 'b',
  metadata: { a: 1 },
};
const start = { type: 'start', jobId: 'agent_1', request };
const types = (said: readonly Said[]): string[] => said.map(({ type }) => type);

describe('the service of a worker', () => {
  it('runs its job in a setup, tells what happens, closes the setup, and exits', async () => {
    const job = serve();
    job.service.take({
      ...start,
      parentConfig: { home: '/h', humans: 'none', providers: { mine: { backend: 'x' } } },
      permissionMode: 'deny',
    });
    await vi.waitFor(() => expect(job.starts).toHaveLength(1));
    expect(job.setups).toMatchObject([{ home: '/h', humans: 'none', providers: { mine: { backend: 'x' } } }]);
    expect(job.starts[0]).toMatchObject({
      jobId: 'agent_1',
      request: { ...request, permissionPolicy: 'deny', depth: 0 },
    });
    const emit = job.starts[0]?.emit ?? (() => undefined);
    for (const delta of ['a', 'b', '😀'.repeat(5_000)])
      emit({ type: 'background_task_text_delta', taskId: 'agent_1', delta });
    emit({ type: 'background_task_tool_start', taskId: 'agent_1', toolName: 't' });
    emit({ type: 'background_task_text_delta', taskId: 'agent_1', delta: 'last words' });
    job.settle({ output: 'done' });
    await job.ended();
    expect(types(job.said)).toEqual(['accepted', 'text_delta', 'text_delta', 'tool_start', 'text_delta', 'result']);
    expect(job.said.map(({ delta }) => (typeof delta === 'string' ? delta : '')).join('')).toBe(
      `ab${'😀'.repeat(5_000)}last words`,
    );
    expect(job.said.every(({ delta }) => typeof delta !== 'string' || Buffer.from(delta).toString() === delta)).toBe(
      true,
    );
    expect(job.said.at(-1)).toEqual({ v: 1, type: 'result', output: 'done' });
    expect([job.closed, job.exits]).toEqual([['the job has ended'], [0]]);
  });

  it('opens the setup while it waits, and uses it for the job', async () => {
    const job = serve();
    job.service.take({ type: 'prepare', parentConfig: { home: '/h' } });
    await vi.waitFor(() => expect(types(job.said)).toEqual(['warm']));
    job.service.take({ ...start, parentConfig: { home: '/h' } });
    await vi.waitFor(() => expect(job.starts).toHaveLength(1));
    expect(job.setups).toHaveLength(1);
  });

  it('opens another one for a job with a provider of its own', async () => {
    const job = serve();
    job.service.take({ type: 'prepare', parentConfig: { home: '/h' } });
    job.service.take({ ...start, parentConfig: { home: '/h' }, providerProfile: { name: 'mine', provider: 'ollama' } });
    await vi.waitFor(() => expect(job.starts).toHaveLength(1));
    expect(job.closed).toEqual(['it is opened with other providers']);
    expect(job.setups.map(({ providers }) => Object.keys(providers))).toEqual([[], ['mine']]);
  });

  it('tries again with the job what it could not open while it waited', async () => {
    let attempts = 0;
    const job = serve({
      open: async () => {
        attempts += 1;
        if (attempts === 1) throw new Error('not yet');
      },
    });
    job.service.take({ type: 'prepare', parentConfig: { home: '/h' } });
    await vi.waitFor(() => expect(attempts).toBe(1));
    await new Promise(setImmediate);
    job.service.take({ ...start, parentConfig: { home: '/h' } });
    await vi.waitFor(() => expect(job.starts).toHaveLength(1));
  });

  it('has a home of its own for an agent that comes along, and none beside a catalog', async () => {
    const job = serve();
    job.service.take({
      ...start,
      agentDefinition: { frontmatter: { name: 'w', provider: 'p', model: 'm' }, instructions: 'Work.' },
    });
    await vi.waitFor(() => expect(job.starts).toHaveLength(1));
    expect(job.setups[0]?.home).toBe(join(folder, 'home'));
    expect(job.agents).toEqual([
      { agentId: 'worker', source: { frontmatter: { name: 'w', provider: 'p', model: 'm' }, instructions: 'Work.' } },
    ]);
    const other = serve();
    other.service.take({ ...start, parentConfig: { home: '/h' }, agentDefinition: { source: '---' } });
    await other.ended();
    expect(other.said).toMatchObject([
      {
        type: 'error',
        code: 'SUBAGENT_START_INVALID',
        message: 'expected either a home or an agent definition, received both',
      },
    ]);
  });

  it.each([
    [{ request: { ...request, cwd: undefined } }, undefined],
    [{ request: { ...request, isolation: 'moon' } }, 'TASK_REQUEST_INVALID'],
    [{ request: { ...request, surprise: 1 } }, 'TASK_REQUEST_INVALID'],
    [{ providerProfile: { apiKey: 'x' } }, 'PROVIDER_PROFILE_INVALID'],
    [{ agentDefinition: { frontmatter: {}, instructions: '' } }, 'AGENT_INVALID'],
  ])('says what is wrong with a start: %j', async (wrong, code) => {
    const job = serve();
    job.service.take(JSON.parse(JSON.stringify({ ...start, ...wrong })));
    if (code === undefined) {
      expect(job.said).toEqual([]);
      return;
    }
    await job.ended();
    expect(job.said).toMatchObject([{ type: 'error', code, category: 'validation' }]);
  });

  it('tells failures whole, and takes back nothing it has said', async () => {
    const job = serve();
    job.service.take(start);
    await vi.waitFor(() => expect(job.starts).toHaveLength(1));
    job.settle(
      new RuntimeError('MODEL_GONE', 'the model is gone', {
        category: 'provider',
        hint: 'Take another.',
        details: { model: 'm' },
      }),
    );
    await job.ended();
    expect(job.said.at(-1)).toEqual({
      v: 1,
      type: 'error',
      message: 'the model is gone',
      category: 'provider',
      code: 'MODEL_GONE',
      hint: 'Take another.',
      details: { model: 'm' },
    });
    job.service.end('again');
    job.service.take({ type: 'cancel' });
    expect(types(job.said).filter((type) => type === 'error' || type === 'cancelled')).toEqual(['error']);
  });

  it('says less where there is too much beside the answer, and nobody is asked what cannot be shown', async () => {
    const answers: unknown[] = [];
    const job = serve({
      handle: { answerPermission: (requestId, allowed) => void answers.push([requestId, allowed]) },
    });
    job.service.take(start);
    await vi.waitFor(() => expect(job.starts).toHaveLength(1));
    const emit = job.starts[0]?.emit ?? (() => undefined);
    emit({
      type: 'background_task_permission_request',
      taskId: 'agent_1',
      requestId: 'large',
      toolName: 'write',
      toolArgs: { content: 'x'.repeat(300_000) },
    });
    emit({
      type: 'background_task_permission_request',
      taskId: 'agent_1',
      requestId: 'small',
      toolName: 'write',
      toolArgs: { content: 'x' },
    });
    emit({ type: 'background_task_tool_start', taskId: 'agent_1', toolName: 'write', firstArg: 'x'.repeat(300_000) });
    await vi.waitFor(() => expect(answers).toEqual([['large', false]]));
    job.settle({ output: 'done', metadata: { summary: 'x'.repeat(300_000) } });
    await job.ended();
    expect(job.said.filter(({ type }) => type === 'permission_request')).toMatchObject([{ requestId: 'small' }]);
    const metadata = {
      metadataLeftOut: expect.stringMatching(/^summary: expected at most \d+ bytes, received more$/) as string,
    };
    expect(job.said.at(-1)).toEqual({ v: 1, type: 'result', output: 'done', metadata });
    // A long first argument goes by file, since it is longer than what the channel takes.
    expect(types(job.said)).toHaveLength(4);
  });

  it.each([
    [new Error('x'.repeat(300_000)), { message: expect.stringContaining('characters left out') as string }],
    [
      new RuntimeError('X', 'm', {
        category: 'runner',
        hint: 'y'.repeat(300_000),
        details: { text: 'z'.repeat(300_000) },
      }),
      { code: 'X', message: 'm', hint: expect.stringContaining('characters left out') as string },
    ],
  ])('shortens a failure that is too long', async (error, said) => {
    const job = serve();
    job.service.take(start);
    await vi.waitFor(() => expect(job.starts).toHaveLength(1));
    job.settle(error);
    await job.ended();
    const told = job.said.at(-1) as unknown as { readonly byFile?: string };
    const message: unknown =
      told.byFile === undefined ? told : JSON.parse(await readFile(join(folder, told.byFile), 'utf8'));
    expect(message).toMatchObject(said);
    expect(readChildMessage(message, { isFromFile: true }).kind).toBe('message');
    expect(message).not.toHaveProperty('details');
  });

  it('takes the keys of its job, for itself', async () => {
    const job = serve();
    vi.stubEnv('KEY_OF_THE_JOB', undefined);
    try {
      job.service.take({ type: 'keys', variables: { KEY_OF_THE_JOB: 'a secret' } });
      job.service.take(start);
      await vi.waitFor(() => expect(job.starts).toHaveLength(1));
      expect(process.env['KEY_OF_THE_JOB']).toBe('a secret');
      expect(JSON.stringify([job.starts, job.said, job.setups])).not.toContain('a secret');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('says that a result is too long to be told', async () => {
    const job = serve();
    job.service.take(start);
    await vi.waitFor(() => expect(job.starts).toHaveLength(1));
    job.settle({ output: 'x'.repeat(64 * 1_048_576) });
    await job.ended();
    expect(job.said.at(-1)).toMatchObject({ type: 'error', code: 'WORKER_MESSAGE_TOO_LONG', category: 'capacity' });
  });

  it('does one job, and none before it is told to', async () => {
    const job = serve();
    job.service.take({ type: 'send', prompt: 'early', id: 's1' });
    await vi.waitFor(() => expect(job.said).toEqual([{ v: 1, type: 'sent', id: 's1', error: 'there is no job yet' }]));
    job.service.take(start);
    job.service.take({ ...start, jobId: 'agent_2' });
    await vi.waitFor(() => expect(job.starts).toHaveLength(1));
    await new Promise(setImmediate);
    expect(job.starts.map(({ jobId }) => jobId)).toEqual(['agent_1']);
  });

  it('hands on follow-ups and answers, and says when follow-ups are stored', async () => {
    const heard: unknown[] = [];
    const job = serve({
      handle: {
        send: async (prompt) => {
          if (prompt === 'no') throw new Error('not now');
          heard.push(prompt);
        },
        answerPermission: (requestId, allowed) => void heard.push([requestId, allowed]),
      },
    });
    job.service.take(start);
    job.service.take({ type: 'send', prompt: 'at once', id: 's1' });
    job.service.take({ type: 'send', prompt: 'no', id: 's2' });
    job.service.take({ type: 'permission_decision', requestId: 'r', allowed: true });
    await vi.waitFor(() =>
      expect(job.said.filter(({ type }) => type === 'sent')).toEqual([
        { v: 1, type: 'sent', id: 's1' },
        { v: 1, type: 'sent', id: 's2', error: 'not now' },
      ]),
    );
    expect(heard).toEqual(['at once', ['r', true]]);
  });

  it.each(['before its start', 'while the setup is opened', 'while it runs'])(
    'ends when it is cancelled %s',
    async (when) => {
      let openDoor: () => void = () => undefined;
      const job = serve({
        open: () =>
          when === 'while the setup is opened' ? new Promise((resolve) => (openDoor = resolve)) : Promise.resolve(),
      });
      if (when !== 'before its start') job.service.take(start);
      if (when === 'while the setup is opened') await vi.waitFor(() => expect(job.setups).toHaveLength(1));
      if (when === 'while it runs') await vi.waitFor(() => expect(job.starts).toHaveLength(1));
      job.service.take({ type: 'cancel', reason: 'enough' });
      openDoor();
      await job.ended();
      expect(job.said.at(-1)).toEqual({ v: 1, type: 'cancelled', reason: 'enough' });
      expect(job.starts).toHaveLength(when === 'while it runs' ? 1 : 0);
    },
  );

  it('gives up when three messages in a row are none', async () => {
    const job = serve();
    job.service.take(start);
    for (const value of [{ type: 'x' }, { type: 'send', prompt: 'ok' }, 1, null, 'x']) job.service.take(value);
    await job.ended();
    expect(job.said.at(-1)).toMatchObject({ type: 'error', category: 'crash', code: 'SUBAGENT_WORKER_PROTOCOL' });
    expect(job.exits).toEqual([3]);
  });

  it('outlives whatever it is sent', async () => {
    const word = fc.constantFrom('prepare', 'start', 'send', 'cancel', 'permission_decision', 'ready');
    const message = fc.oneof(
      fc.record(
        {
          type: word,
          prompt: fc.string(),
          id: fc.string(),
          requestId: fc.string(),
          allowed: fc.boolean(),
          reason: fc.string(),
          parentConfig: fc.constant({}),
        },
        { requiredKeys: ['type'] },
      ),
      fc.constant(start),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 10 }), async (messages) => {
        const job = serve({ handle: { send: async () => undefined } });
        for (const value of messages) job.service.take(value);
        job.service.end('enough');
        await job.ended();
        expect(job.said.filter(({ type }) => ['result', 'error', 'cancelled'].includes(type))).toHaveLength(1);
        expect(job.starts.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 60 },
    );
  });
});

/**
 * The words between a runtime and its workers: what counts as one, what does not, and that nothing can break whoever
 * reads them.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSubagentWorkerChildMessage,
  isSubagentWorkerParentMessage,
  readChildMessage,
  readParentMessage,
} from '../../../src/machines/subagent/worker-messages.ts';
import {
  WORKER_INLINE_BYTES,
  workerChildMessage,
  workerParentMessage,
} from '../../../src/machines/subagent/worker-protocol.ts';

const request = {
  kind: 'agent',
  agentType: 'worker',
  prompt: 'Go.',
  cwd: '/w',
  label: 'job',
  anything: { else: true },
};

const PARENT_MESSAGES = [
  { type: 'prepare', parentConfig: {} },
  { type: 'prepare', parentConfig: { home: '/h', humans: 'none', providers: { mine: { backend: 'embedded' } } } },
  { type: 'keys', variables: { SOME_API_KEY: 'value' } },
  { type: 'start', jobId: 'agent_1', request },
  {
    v: 1,
    type: 'start',
    jobId: 'agent_1',
    request,
    agentDefinition: { source: '---\n---\n' },
    parentConfig: { home: '/h' },
    parentContext: ['x'],
    providerProfile: 'mine',
    permissionMode: 'deny',
    logsDir: '/l',
  },
  {
    type: 'start',
    jobId: 'agent_1',
    request,
    agentDefinition: null,
    parentConfig: null,
    parentContext: null,
    providerProfile: null,
    permissionMode: null,
    logsDir: null,
  },
  {
    type: 'start',
    jobId: 'agent_1',
    request,
    agentDefinition: { agentId: 'a', frontmatter: { name: 'a' }, instructions: 'Go.' },
    providerProfile: { name: 'x' },
  },
  { type: 'send', prompt: 'and then?' },
  { type: 'send', prompt: '', id: 'send-1' },
  { type: 'cancel' },
  { type: 'cancel', reason: 'enough' },
  { type: 'permission_decision', requestId: 'r', allowed: false },
];

const CHILD_MESSAGES = [
  { type: 'ready' },
  { v: 1, type: 'ready', pid: 12, confirms: true },
  { type: 'warm' },
  { type: 'accepted', jobId: 'agent_1' },
  { type: 'sent', id: 'send-1' },
  { type: 'sent', id: 'send-1', error: 'no' },
  { type: 'text_delta', delta: '' },
  { type: 'tool_start', toolName: 'shell_run' },
  { type: 'tool_start', toolName: 'shell_run', firstArg: 'ls', toolTimeoutMs: 0 },
  { type: 'tool_end', toolName: 'shell_run', success: true },
  { type: 'tool_end', toolName: 'shell_run', success: false, error: 'no' },
  { type: 'permission_request', requestId: 'r', toolName: 'shell_run', toolArgs: { command: 'ls' } },
  { type: 'permission_request', requestId: 'r', toolName: 'shell_run' },
  { type: 'permission_resolved', requestId: 'r' },
  { type: 'activity' },
  { type: 'progress', currentAction: 'shell_run' },
  { type: 'result', output: '' },
  { type: 'result', output: 'done', usage: { inputTokens: 1 }, metadata: { a: 1 } },
  { type: 'error', message: 'no', category: 'provider', code: 'X', hint: 'y', details: {} },
  { type: 'cancelled', reason: 'enough' },
];

describe('the messages of the worker protocol', () => {
  it.each(PARENT_MESSAGES.map((message) => [message]))('go to workers: %j', (message) => {
    expect(isSubagentWorkerParentMessage(message)).toBe(true);
    expect(isSubagentWorkerChildMessage(message)).toBe(false);
    expect(readParentMessage(message)).toEqual({ kind: 'message', message });
  });

  it.each(CHILD_MESSAGES.map((message) => [message]))('come from workers: %j', (message) => {
    expect(isSubagentWorkerChildMessage(message)).toBe(true);
    expect(isSubagentWorkerParentMessage(message)).toBe(false);
    expect(readChildMessage(message)).toEqual({ kind: 'message', message });
  });

  it('are all named here', () => {
    const typesOf = (schema: {
      readonly options: readonly { readonly shape: { readonly type: { readonly values: ReadonlySet<unknown> } } }[];
    }): ReadonlySet<unknown> => new Set(schema.options.flatMap(({ shape }) => [...shape.type.values]));
    expect(new Set(PARENT_MESSAGES.map(({ type }) => type))).toEqual(typesOf(workerParentMessage));
    expect(new Set(CHILD_MESSAGES.map(({ type }) => type))).toEqual(typesOf(workerChildMessage));
  });

  it.each([
    undefined,
    null,
    0,
    'ready',
    [],
    [{ type: 'ready' }],
    {},
    { type: 'READY' },
    { type: ['ready'] },
    { type: 'ready', extra: 1 },
    { type: '__proto__' },
    { type: 'text_delta', delta: 1 },
    { type: 'permission_decision', requestId: 'r', allowed: 'yes' },
  ])('are nothing else: %j', (value) => {
    expect(isSubagentWorkerChildMessage(value)).toBe(false);
    expect(isSubagentWorkerParentMessage(value)).toBe(false);
    expect(readChildMessage(value)).toMatchObject({ kind: 'invalid' });
  });

  it('lose a field, or get one of another type, and count no longer', () => {
    const schemas = [[workerParentMessage, PARENT_MESSAGES] as const, [workerChildMessage, CHILD_MESSAGES] as const];
    for (const [schema, messages] of schemas) {
      for (const message of messages) {
        for (const key of Object.keys(message)) {
          const { [key]: value, ...rest } = message as Record<string, unknown>;
          const isNeeded = !schema.safeParse(rest).success;
          expect(
            isNeeded ||
              [
                'v',
                'reason',
                'id',
                'pid',
                'confirms',
                'firstArg',
                'toolTimeoutMs',
                'error',
                'toolArgs',
                'currentAction',
                'usage',
                'metadata',
                'category',
                'code',
                'hint',
                'details',
                'agentDefinition',
                'parentConfig',
                'parentContext',
                'providerProfile',
                'permissionMode',
                'logsDir',
              ].includes(key),
          ).toBe(true);
          if (!['parentContext', 'toolArgs'].includes(key))
            expect(schema.safeParse({ ...message, [key]: typeof value === 'symbol' ? 1 : () => value }).success).toBe(
              false,
            );
        }
      }
    }
  });

  it.each([2, '1', 0, null, 'x'.repeat(1_000), {}, []])('of another version are refused by name: %j', (v) => {
    const reading = readChildMessage({ v, type: 'ready' });
    expect(reading).toMatchObject({
      kind: 'other_version',
      complaint: expect.stringMatching(
        /^this end speaks version 1 of the worker protocol, the other end version .{1,30}$/,
      ) as string,
    });
  });

  it('are short, or come by file', () => {
    const room = WORKER_INLINE_BYTES - JSON.stringify({ type: 'text_delta', delta: '' }).length;
    expect(readChildMessage({ type: 'text_delta', delta: 'x'.repeat(room) })).toMatchObject({ kind: 'message' });
    expect(readChildMessage({ type: 'text_delta', delta: 'x'.repeat(room + 1) })).toMatchObject({
      kind: 'invalid',
      complaint: expect.stringContaining('goes by file') as string,
    });
    expect(readChildMessage({ type: 'text_delta', delta: 'ü'.repeat(room / 2 + 1) })).toMatchObject({
      kind: 'invalid',
    });
    expect(readChildMessage({ type: 'text_delta', delta: 'x'.repeat(room + 1) }, { isFromFile: true })).toMatchObject({
      kind: 'message',
    });
  });

  it('refer to files by a name that leads nowhere else', () => {
    const reference = { byFile: 'child-1.json', bytes: 70_000, sha256: 'a'.repeat(64) };
    expect(readChildMessage(reference)).toEqual({ kind: 'file', reference });
    for (const wrong of [
      { byFile: '../x-1.json' },
      { byFile: '/x-1.json' },
      { byFile: 'x-1.json\n' },
      { byFile: 'x-1.json\0' },
      { bytes: -1 },
      { bytes: 1e12 },
      { bytes: 1.5 },
      { sha256: '' },
      { type: 'result' },
    ]) {
      expect(readChildMessage({ ...reference, ...wrong })).toMatchObject({ kind: 'invalid' });
    }
    expect(readChildMessage(reference, { isFromFile: true })).toMatchObject({ kind: 'invalid' });
  });
});

function isPlain(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

describe('whatever comes instead of a message', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    maxDepth: 4,
  });
  const nearly = fc
    .constantFrom(...PARENT_MESSAGES, ...CHILD_MESSAGES)
    .chain((message) =>
      fc
        .tuple(fc.constantFrom(...Object.keys(message), '__proto__', 'constructor', 'v', 'byFile'), anything)
        .map(([key, value]) => ({ ...message, [key]: value })),
    );

  it('never breaks whoever reads it, and passes a guard only where it can be read', () => {
    fc.assert(
      fc.property(fc.oneof(anything, nearly), (value) => {
        const isRead = [
          readChildMessage(value, { isFromFile: true }),
          readParentMessage(value, { isFromFile: true }),
        ].map(({ kind }) => kind === 'message');
        const isGuarded = [isSubagentWorkerChildMessage(value), isSubagentWorkerParentMessage(value)];
        // Only what JSON can hold passes a guard; the channel brings nothing else.
        expect(isGuarded.every((guarded, index) => !guarded || isRead[index])).toBe(true);
        if (isPlain(value)) expect(isRead).toEqual(isGuarded);
      }),
      { numRuns: 2_000 },
    );
  });

  it('may be deep, cyclic, hostile or revoked', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const cyclic: Record<string, unknown> = { type: 'result', output: 'x' };
    cyclic['metadata'] = cyclic;
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const hostile = {
      get type(): string {
        throw new Error('no');
      },
    };
    for (const value of [
      { type: 'permission_request', requestId: 'r', toolName: 't', toolArgs: deep },
      cyclic,
      proxy,
      hostile,
      { type: 'result', output: 'x', metadata: { big: 1n } },
    ]) {
      expect(readChildMessage(value)).toMatchObject({ kind: 'invalid' });
      expect(isSubagentWorkerChildMessage(value)).toBe(false);
      expect(isSubagentWorkerParentMessage(value)).toBe(false);
    }
  });
});

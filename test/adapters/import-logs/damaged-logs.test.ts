/** Whatever a log looks like, its import ends in an account of it, and in a session that can be read and goes on. */
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assembleTranscript } from '../../../src/machines/turn/transcript.ts';
import { lines, openboaEvents, put, rowboatEvents } from './foreign-home.ts';
import { ImportSetup } from './import-setup.ts';

let setup: ImportSetup;

beforeAll(async () => {
  setup = await ImportSetup.open();
});

afterAll(() => setup.close());

/** A change that a crash, a bad disk or a bad program makes to a log. */
const damage = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(4_000) }),
  fc.record({ kind: fc.constant('byte' as const), at: fc.nat(4_000), value: fc.nat(255) }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat(4_000), length: fc.nat(200) }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: fc.nat(4_000),
    text: fc.string({ unit: 'binary', maxLength: 40 }),
  }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(4_000), length: fc.nat(400) }),
);

function damaged(
  log: Buffer,
  all: readonly (typeof damage extends fc.Arbitrary<infer Value> ? Value : never)[],
): Buffer {
  return all.reduce((bytes, each) => {
    const at = Math.min(each.at, bytes.length);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    if (each.kind === 'cut') return before;
    if (each.kind === 'byte') return Buffer.concat([before, Buffer.from([each.value]), after.subarray(1)]);
    if (each.kind === 'remove') return Buffer.concat([before, after.subarray(each.length)]);
    return Buffer.concat([
      before,
      each.kind === 'insert' ? Buffer.from(each.text) : after.subarray(0, each.length),
      after,
    ]);
  }, log);
}

/** Records of known kinds whose fields hold anything. */
const strangeRecord = fc
  .record({
    type: fc.constantFrom(
      'start',
      'message',
      'user.message',
      'agent.message',
      'agent.tool_use',
      'agent.tool_result',
      'tool-permission-request',
      'tool-permission-response',
      'ask-human-request',
      'user.answer',
      'user.tool_confirmation',
      'agent.custom_tool_use',
      'user.custom_tool_result',
      'user.define_outcome',
      'learning.captured',
      'wake.queued',
      'directive.accepted',
      'user.interrupt',
      'nothing.known',
    ),
  })
  .chain(({ type }) =>
    fc
      .dictionary(
        fc.constantFrom(
          'id',
          'at',
          'text',
          'message',
          'content',
          'data',
          'toolCallId',
          'toolName',
          'name',
          'input',
          'arguments',
          'output',
          'requestId',
          'toolCall',
          'response',
          'query',
          'title',
          'criteria',
          'dueAt',
          'delaySeconds',
          'queuedWakes',
          'learnings',
          'subflow',
          'role',
          '__proto__',
        ),
        fc.oneof(
          { weight: 2, arbitrary: fc.constantFrom('c1', 'c2', '2026-01-05T10:00:00Z', 1e300, -1, '') },
          { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
          {
            weight: 1,
            arbitrary: fc.constant({
              role: 'assistant',
              content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 't', arguments: {} }],
            }),
          },
        ),
      )
      .map((fields) => ({ ...fields, type })),
  );

async function checkImport(from: 'openboa' | 'rowboat', log: Uint8Array): Promise<void> {
  const path = await put(join(setup.place(), 'run.jsonl'), log);
  const { sessions } = await setup.import({ from, path, agentId: 'helper' });
  expect(sessions).toHaveLength(1);
  const [report] = sessions;
  if (report?.status === 'failed') {
    expect(['IMPORT_EMPTY', 'IMPORT_NOT_UNDERSTOOD']).toContain(report.code);
    return;
  }
  const id = report?.sessionId ?? '';
  try {
    await checkSession({ from, path, id });
  } finally {
    await setup.runtime.sessions.delete(id);
  }
}

async function checkSession({
  from,
  path,
  id,
}: {
  readonly from: 'openboa' | 'rowboat';
  readonly path: string;
  readonly id: string;
}): Promise<void> {
  const state = await setup.runtime.sessions.get(id);
  expect(state).toMatchObject({ openToolCalls: [], pendingActions: [], sessionRules: [] });
  // Every call has exactly one result after it.
  const messages = assembleTranscript(await setup.eventsOf(id));
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    const calls = message.content.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []));
    const next = messages[index + 1];
    expect(next?.role === 'tool' ? next.content.map(({ callId }) => callId) : []).toEqual(calls);
  }
  expect((await setup.import({ from, path, agentId: 'helper' })).sessions).toMatchObject([
    { status: 'already', sessionId: id },
  ]);
  if (state.status !== 'terminated') {
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'Go on.' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
  }
}

const RUNS = { numRuns: Number(process.env['FUZZ_RUNS'] ?? 25) };

describe('a log', () => {
  it.each([
    ['openboa', openboaEvents],
    ['rowboat', rowboatEvents],
  ] as const)('of %s that is damaged anyhow becomes a session that is whole', async (from, events) => {
    const log = Buffer.from(lines(...events));
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 4 }), (all) => checkImport(from, damaged(log, all))),
      RUNS,
    );
  });

  it.each(['openboa', 'rowboat'] as const)(
    'of %s whose records hold anything becomes a session that is whole',
    async (from) => {
      await fc.assert(
        fc.asyncProperty(fc.array(strangeRecord, { minLength: 1, maxLength: 12 }), (records) =>
          checkImport(from, Buffer.from(lines(...records))),
        ),
        RUNS,
      );
    },
  );
});

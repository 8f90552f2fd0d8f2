/** Homes of other runtimes, written as their documents describe them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export const OPENBOA_SESSION = '0192f0c1-2345-7abc-8def-0123456789ab';

export const lines = (...records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** A file with the folders above it. */
export async function put(path: string, content: string | Uint8Array): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  return path;
}

const at = (second: number): string => new Date(Date.UTC(2026, 0, 5, 10, 0, second)).toISOString();

export const openboaEvents: readonly object[] = [
  {
    id: '0192f0c1-2346-7abc-8def-000000000001',
    type: 'session.created',
    createdAt: at(0),
    agentId: 'alpha',
    sessionId: OPENBOA_SESSION,
  },
  {
    id: '0192f0c1-2346-7abc-8def-000000000002',
    type: 'user.message',
    createdAt: at(1),
    message: 'Review the current state.',
  },
  { id: 'span-1', type: 'span.started', createdAt: at(2), spanId: 's1' },
  {
    id: '0192f0c1-2346-7abc-8def-000000000003',
    type: 'agent.tool_use',
    createdAt: at(3),
    toolUseId: 'call-1',
    name: 'shell_exec',
    input: { command: 'git status' },
  },
  {
    id: '0192f0c1-2346-7abc-8def-000000000004',
    type: 'agent.tool_result',
    createdAt: at(4),
    toolUseId: 'call-1',
    output: 'clean',
  },
  {
    id: '0192f0c1-2346-7abc-8def-000000000005',
    type: 'agent.message',
    createdAt: at(5),
    data: { text: 'All is clean.' },
  },
  {
    id: 'learn-1',
    type: 'learning.captured',
    createdAt: at(6),
    data: { kind: 'lesson', title: 'Check first', detail: 'git status before anything else', promoteToMemory: true },
  },
  {
    id: 'out-1',
    type: 'user.define_outcome',
    createdAt: at(7),
    outcome: { title: 'The tests pass', criteria: ['npm test exits with 0'] },
  },
];

export interface OpenboaParts {
  readonly agent?: string;
  readonly session?: string;
  readonly events?: string;
}

/** One session in a home. Answers with the folder of the session. */
export async function openboaSession(
  home: string,
  { agent = 'alpha', session = OPENBOA_SESSION, events = lines(...openboaEvents) }: OpenboaParts = {},
): Promise<string> {
  const folder = join(home, 'agents', agent, 'sessions', session);
  await put(
    join(folder, 'session.json'),
    JSON.stringify({
      sessionId: session,
      agentId: agent,
      status: 'idle',
      createdAt: at(0),
      title: 'State of the tree',
    }),
  );
  await put(join(folder, 'events.jsonl'), events);
  await put(join(folder, 'runtime', 'session-state.md'), '# State\n');
  await put(
    join(folder, 'wake-queue.jsonl'),
    lines(
      { id: 'w1', reason: 'check back', dueAt: '2026-01-05T12:00:00Z', priority: 'high', status: 'pending' },
      { id: 'w2', reason: 'done', dueAt: at(3), status: 'completed' },
    ),
  );
  return folder;
}

export const RUN = 'run-2026-01-05-0001';

export const rowboatEvents: readonly object[] = [
  { runId: RUN, type: 'start', agentName: 'copilot', subflow: [], ts: at(0) },
  { runId: RUN, type: 'message', message: { role: 'user', content: 'List the files.' }, subflow: [] },
  {
    runId: RUN,
    type: 'message',
    message: {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'I check.' },
        { type: 'text', text: 'Checking.' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'executeCommand', arguments: { command: 'ls' } },
      ],
    },
    subflow: [],
  },
  {
    runId: RUN,
    type: 'tool-permission-request',
    toolCall: { type: 'tool-call', toolCallId: 'c1', toolName: 'executeCommand', arguments: { command: 'ls' } },
    subflow: [],
  },
  {
    runId: RUN,
    type: 'tool-permission-response',
    toolCallId: 'c1',
    response: 'approve',
    scope: 'session',
    subflow: [],
  },
  {
    runId: RUN,
    type: 'message',
    message: { role: 'tool', content: '{"stdout":"a.txt"}', toolCallId: 'c1', toolName: 'executeCommand' },
    subflow: [],
  },
  {
    runId: RUN,
    type: 'message',
    message: {
      role: 'assistant',
      content: [
        { type: 'text', text: 'There is a.txt.' },
        { type: 'tool-call', toolCallId: 'c2', toolName: 'ask-human', arguments: { question: 'More?' } },
      ],
    },
    subflow: [],
  },
  { runId: RUN, type: 'ask-human-request', toolCallId: 'c2', query: 'More?', subflow: [] },
  { runId: RUN, type: 'spawn-subflow', agentName: 'scribe', toolCallId: 'c3', subflow: [] },
  { runId: RUN, type: 'message', message: { role: 'user', content: 'Write.' }, subflow: ['c3'] },
];

export const uniqueId = (n: number): string => `0192f0c1-9999-7abc-8def-${String(n).padStart(12, '0')}`;

/** A rowboat run of its own, with these records after its start. */
export const runOf = (name: string, ...records: readonly object[]): string =>
  lines(
    { runId: name, type: 'start', agentName: 'copilot', subflow: [], ts: '2026-01-05T10:00:00Z' },
    ...records.map((record) => ({ runId: name, subflow: [], ...record })),
  );

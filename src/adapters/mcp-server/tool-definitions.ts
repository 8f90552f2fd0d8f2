/** The tools that the MCP server offers: their names, words, inputs, and what they can do. */
import * as z from 'zod';
import { MAX_MESSAGE_CHARACTERS } from '../../machines/session/limits.ts';

/** How long one call may wait at most, in seconds: more than most clients do. */
const MAX_WAIT_SECONDS = 600;
const DEFAULT_WAIT_SECONDS = 30;
const MAX_EVENTS = 200;
const DEFAULT_EVENTS = 50;

const session = z.string().min(1).describe('The id of the session.');
const message = z.string().min(1).max(MAX_MESSAGE_CHARACTERS);
const waitSeconds = z
  .number()
  .min(0)
  .max(MAX_WAIT_SECONDS)
  .default(DEFAULT_WAIT_SECONDS)
  .describe('How long to wait for the session to rest or to ask. 0: returns at once.');
const task = z.string().min(1).describe('The id of the task.');
const reason = z.string().min(1).max(500).optional();

export const toolInputs = {
  agents_list: z.strictObject({}),
  sessions_list: z.strictObject({
    agent: z.string().optional(),
    status: z.enum(['idle', 'running', 'rescheduling', 'terminated']).optional(),
    newest: z.number().int().min(1).max(100).default(20).describe('Only the newest sessions, so many.'),
  }),
  session_start: z.strictObject({
    agent: z.string().min(1).describe('The name of the agent; agents_list shows them.'),
    message: message.optional().describe('The first message. Without one the session waits for session_send.'),
    title: z.string().min(1).max(200).optional(),
    environment: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Where it works; refused unless the server was started with --allow-commands. Default: as its agent says.',
      ),
    waitSeconds,
  }),
  session_send: z.strictObject({
    session,
    message,
    delivery: z
      .enum(['queue', 'steer', 'interrupt'])
      .optional()
      .describe('queue (default): after the turn that runs; steer: by its next step; interrupt: instead of it.'),
    waitSeconds,
  }),
  session_wait: z.strictObject({
    turn: z.string().min(1).describe('The turn, as session_start or session_send has named it.'),
    waitSeconds,
  }),
  session_read: z.strictObject({
    session,
    from: z.number().int().min(1).default(1).describe('The number of the first event; the answer says where to go on.'),
    limit: z.number().int().min(1).max(MAX_EVENTS).default(DEFAULT_EVENTS),
  }),
  session_answer: z.strictObject({
    session: session.describe('The session that asks, as the request names it.'),
    request: z.string().min(1).describe('The id of the request.'),
    decision: z.enum(['allow', 'deny']).optional().describe('For a permission.'),
    scope: z.enum(['once', 'session', 'always']).optional().describe('How far an allowance reaches. Default: once.'),
    answer: z.string().min(1).optional().describe('For a question; for a custom tool its result, as JSON or text.'),
  }),
  session_interrupt: z.strictObject({ session, reason }),
  session_stop: z.strictObject({ session, reason }),
  tasks_list: z.strictObject({}),
  task_start: z.strictObject({
    command: z.string().min(1).describe('A line for the shell.'),
    cwd: z.string().min(1).optional().describe('An absolute path. Default: where the server was started.'),
    label: z.string().min(1).max(200).optional(),
    timeoutSeconds: z.number().positive().optional(),
  }),
  task_read: z.strictObject({
    task,
    from: z.number().int().min(0).default(0).describe('The first line of its output, from 0.'),
    waitSeconds: waitSeconds.default(0).describe('How long to wait for it to end. Default: not at all.'),
  }),
  task_stop: z.strictObject({ task, reason }),
} as const;

export type ToolName = keyof typeof toolInputs;
export type ToolInput<Name extends ToolName> = z.output<(typeof toolInputs)[Name]>;

interface ToolWords {
  readonly description: string;
  readonly does: 'reads' | 'adds' | 'ends';
  /** It can be called as a task of the protocol. */
  readonly isTask?: true;
}

export const toolWords: Readonly<Record<ToolName, ToolWords>> = {
  agents_list: { description: 'The agents that sessions can be started with.', does: 'reads' },
  sessions_list: { description: 'Sessions and where they stand, oldest first.', does: 'reads' },
  session_start: {
    description:
      'Starts a session of an agent, which works in the background and outlives this conversation. Waits a while for it to rest; then session_wait goes on waiting.',
    does: 'adds',
    isTask: true,
  },
  session_send: {
    description: 'Sends a message to a session, and waits a while for what becomes of it.',
    does: 'adds',
    isTask: true,
  },
  session_wait: { description: 'Waits for a turn of a session to end, or to ask for something.', does: 'reads' },
  session_read: { description: 'The events of a session, from a number on.', does: 'reads' },
  session_answer: {
    description:
      'Answers what a session asks: a question, or the result of a custom tool. Permissions are for a person, unless the server was started with --allow-answers; anyone may deny.',
    does: 'adds',
  },
  session_interrupt: { description: 'Cuts the turn that runs short. The session can go on later.', does: 'ends' },
  session_stop: { description: 'Ends a session for ever. Its log stays readable.', does: 'ends' },
  tasks_list: { description: 'The background tasks of this server.', does: 'reads' },
  task_start: {
    description: 'Runs a command in the background, on the machine of the server and with its rights.',
    does: 'ends',
  },
  task_read: { description: 'Where a background task stands, and its output.', does: 'reads' },
  task_stop: { description: 'Ends a background task with all its processes.', does: 'ends' },
};

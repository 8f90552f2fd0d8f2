/** The tools about sessions as data: what a model is told of each, what it may ask, and what it gets. */
import * as z from 'zod';
import { agentId, sessionId } from '../ids.ts';
import { retrievalCandidate } from '../retrieval/retrieval-tool.ts';
import { MAX_CANDIDATES, MAX_QUERY_CHARACTERS } from '../retrieval/retrieval-limits.ts';
import { sessionRelation } from '../retrieval/session-relations.ts';
import { PRESSURE_LEVELS } from '../turn/context-pressure.ts';
import { readsOnly } from '../turn/tool-definition.ts';
import type { ToolDefinition } from '../turn/tool-definition.ts';
import { eventView } from './event-view.ts';
import {
  DEFAULT_LISTED_SESSIONS,
  DEFAULT_READ_EVENTS,
  MAX_DELEGATED_CHARACTERS,
  MAX_LISTED_SESSIONS,
  MAX_READ_EVENTS_PER_CALL,
} from './session-tool-limits.ts';
import { sessionSnapshot } from './snapshot.ts';

const READS = {
  ...readsOnly,
  family: 'session',
  effects: ['reads_sessions'],
} as const satisfies Partial<ToolDefinition>;

const DELEGATES = {
  ownership: 'managed',
  family: 'session',
  permissionPolicy: 'always_allow',
  effects: ['delegates', 'writes_session'],
  destructive: false,
  interruptBehavior: 'finish',
} as const satisfies Partial<ToolDefinition>;

const seq = z.number().int().min(1);
const which = sessionId.describe('The session. It must be one of your own agent.');
const time = z.iso.datetime({ offset: true }).or(z.iso.date());

const listInput = z.strictObject({
  status: z.enum(['idle', 'running', 'rescheduling', 'terminated']).optional(),
  relation: sessionRelation
    .optional()
    .describe(
      'Only sessions related to this one: "ancestors", "descendants", "siblings", "family" (all of these and this one). Default "agent": every session of yours.',
    ),
  titleContains: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('Only sessions whose title or summary holds this, in whatever case.'),
  updatedSince: time.optional(),
  limit: z.number().int().min(1).max(MAX_LISTED_SESSIONS).optional().describe(`Default ${DEFAULT_LISTED_SESSIONS}.`),
  after: sessionId.optional().describe('Goes on after this session: the last one of the list before.'),
});

const listedSession = sessionSnapshot
  .pick({
    sessionId: true,
    title: true,
    createdAt: true,
    updatedAt: true,
    status: true,
    stopReason: true,
    summary: true,
    head: true,
    messages: true,
    wakes: true,
    parentSessionId: true,
    unreadable: true,
  })
  .extend({ kinship: z.enum(['self', 'ancestors', 'descendants', 'siblings', 'none']), children: z.number() });

const listOutput = z.strictObject({ sessions: z.array(listedSession), total: z.number(), more: z.boolean() });

export type SessionListInput = Readonly<z.output<typeof listInput>>;
export type SessionListOutput = Readonly<z.output<typeof listOutput>>;

export const sessionListDefinition: ToolDefinition<SessionListInput> = {
  ...READS,
  name: 'session_list',
  description:
    'Lists the sessions of your agent, this one among them, the newest changed first: title, status, summary, how they are related to this one. Sessions of other agents are never shown.',
  inputSchema: listInput,
  outputSchema: listOutput,
};

const snapshotInput = z.strictObject({ sessionId: which });

export type SessionSnapshotInput = Readonly<z.output<typeof snapshotInput>>;

export const sessionGetSnapshotDefinition: ToolDefinition<SessionSnapshotInput> = {
  ...READS,
  name: 'session_get_snapshot',
  description:
    'Opens a session of your agent as it stands: status, summary, outcome and its evaluation, what it waits for, open calls, queued wakes, children. What it says is the truth of now, unlike a search result.',
  inputSchema: snapshotInput,
  outputSchema: sessionSnapshot,
};

const eventsInput = z.strictObject({
  sessionId: which,
  from: seq.optional().describe('The number of the first event. Default: so that the newest events are given.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_READ_EVENTS_PER_CALL)
    .optional()
    .describe(`Events at most. Default ${DEFAULT_READ_EVENTS}.`),
  types: z
    .array(z.string().min(1).max(100))
    .min(1)
    .max(20)
    .optional()
    .describe(
      'Only events of these types, such as "user.message", "agent.message", "agent.tool_result", or of whole groups, such as "user.*".',
    ),
});

const eventsOutput = z.strictObject({
  sessionId: z.string(),
  events: z.array(eventView),
  head: z.number(),
  /** Where the next call goes on; absent when nothing more was there. */
  nextFrom: z.number().optional(),
});

export type SessionEventsInput = Readonly<z.output<typeof eventsInput>>;
export type SessionEventsOutput = Readonly<z.output<typeof eventsOutput>>;

export const sessionGetEventsDefinition: ToolDefinition<SessionEventsInput> = {
  ...READS,
  name: 'session_get_events',
  description:
    'Reads the log of a session of your agent, as it was written. This is the truth that search results only point to. Long texts in an event are cut, and marked.',
  inputSchema: eventsInput,
  outputSchema: eventsOutput,
};

const traceInput = z
  .strictObject({
    sessionId: which,
    callId: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('A tool call: what it was given, how it was allowed, what it put out.'),
    spanId: z.string().min(1).max(200).optional().describe('A model step: what was said and asked for in it.'),
    wakeId: z.string().min(1).max(200).optional().describe('A wake, from its beginning to its end.'),
    nearSeq: seq.optional().describe('The number of an event of it, or shortly before it, if you know one.'),
  })
  .refine(
    ({ callId, spanId, wakeId }) => [callId, spanId, wakeId].filter((each) => each !== undefined).length === 1,
    'expected exactly one of callId, spanId and wakeId',
  );

const traceOutput = z.strictObject({
  sessionId: z.string(),
  events: z.array(eventView),
  isWhole: z.boolean(),
  nextFrom: z.number().optional(),
});

export type SessionTraceInput = Readonly<z.output<typeof traceInput>>;
export type SessionTraceOutput = Readonly<z.output<typeof traceOutput>>;

export const sessionGetTraceDefinition: ToolDefinition<SessionTraceInput> = {
  ...READS,
  name: 'session_get_trace',
  description:
    'Opens everything in the log of a session of your agent that belongs to one tool call, one model step or one wake.',
  inputSchema: traceInput,
  outputSchema: traceOutput,
};

const searchInput = z.strictObject({
  query: z
    .string()
    .trim()
    .min(1)
    .max(MAX_QUERY_CHARACTERS)
    .describe('What you search for, in plain words: names, paths, numbers and error texts help most.'),
  sessionId: sessionId
    .optional()
    .describe('The session. Default: this one, what was left out of your context included.'),
  limit: z.number().int().min(1).max(MAX_CANDIDATES).optional(),
});

const searchOutput = z.strictObject({
  sessionId: z.string(),
  candidates: z.array(retrievalCandidate),
  note: z.string(),
});

export type SessionSearchInput = Readonly<z.output<typeof searchInput>>;
export type SessionSearchOutput = Readonly<z.output<typeof searchOutput>>;

export const sessionSearchContextDefinition: ToolDefinition<SessionSearchInput> = {
  ...READS,
  name: 'session_search_context',
  description:
    'Searches one session of your agent, this one by default: what was said and done before the current turn, also what your context does not hold any more. Gives hints and the calls that open them.',
  inputSchema: searchInput,
  outputSchema: searchOutput,
};

const nothing = z.strictObject({});

export type NoInput = Readonly<z.output<typeof nothing>>;

const contextOutput = z.strictObject({
  isKnown: z.boolean(),
  report: z.record(z.string(), z.number()).optional(),
  words: z.string().optional(),
  pressure: z.strictObject({ level: z.enum(PRESSURE_LEVELS), share: z.number(), because: z.string() }).optional(),
  next: z.array(
    z.strictObject({
      what: z.enum(['old_outputs', 'oldest_exchanges', 'summary']),
      messages: z.number(),
      tokens: z.number(),
      words: z.string(),
    }),
  ),
  protected: z.strictObject({ exchanges: z.number(), messages: z.number(), tokens: z.number(), words: z.string() }),
});

export type SessionContextOutput = Readonly<z.output<typeof contextOutput>>;

export const sessionDescribeContextDefinition: ToolDefinition<NoInput> = {
  ...READS,
  name: 'session_describe_context',
  description:
    'Tells what your context is spent on, how full it is (low, moderate, high, critical), what would be left out next, and which of the newest turns are protected. Nothing is lost by that: the log keeps everything.',
  inputSchema: nothing,
  outputSchema: contextOutput,
};

const describeOutput = z.strictObject({
  session: sessionSnapshot,
  agent: z
    .strictObject({
      agentId: z.string(),
      name: z.string(),
      provider: z.string(),
      model: z.string(),
      tools: z.array(z.string()),
      agents: z.array(z.string()),
    })
    .optional(),
  siblings: z.array(z.string()),
});

export type SessionDescribeOutput = Readonly<z.output<typeof describeOutput>>;

export const sessionDescribeDefinition: ToolDefinition<NoInput> = {
  ...READS,
  name: 'session_describe',
  description:
    'Tells what this session is: its ids, status, outcome, environment, tools, the agents that it may ask, its parent, children and siblings.',
  inputSchema: nothing,
  outputSchema: describeOutput,
};

const message = z
  .string()
  .trim()
  .min(1)
  .max(MAX_DELEGATED_CHARACTERS)
  .describe('What the agent is to do, with all that it needs to know: it sees nothing of this conversation.');
const asked = agentId.describe('One of the agents that your agent file names as a tool.');

const delegateInput = z.strictObject({ agentId: asked, message, title: z.string().trim().min(1).max(200).optional() });
const delegateOutput = z.strictObject({
  childSessionId: z.string(),
  agentId: z.string(),
  seq: z.number(),
  note: z.string(),
});

export type SessionDelegateInput = Readonly<z.output<typeof delegateInput>>;
export type SessionDelegateOutput = Readonly<z.output<typeof delegateOutput>>;

export const sessionDelegateDefinition: ToolDefinition<SessionDelegateInput> = {
  ...DELEGATES,
  name: 'session_delegate',
  description:
    'Gives work to another agent in a child session of its own and goes on at once. A worker runs it; when it rests, that is told in this session. It may do nothing that you may not do.',
  inputSchema: delegateInput,
  outputSchema: delegateOutput,
  readOnly: false,
};

const runChildInput = z.strictObject({ agentId: asked, message });

/**
 * The child's last message, how it came to rest, and the worktree that it leaves. One that is too long to be shown
 * whole is cut, as every output is.
 */
const runChildOutput = z.looseObject({
  output: z.unknown(),
  summary: z.string(),
  agent: z.string(),
  sessionId: z.string(),
});

export type SessionRunChildInput = Readonly<z.output<typeof runChildInput>>;

export const sessionRunChildDefinition: ToolDefinition<SessionRunChildInput> = {
  ...DELEGATES,
  name: 'session_run_child',
  description:
    'Lets another agent do something in a child session of its own and waits for it: its answer is the result. It may do nothing that you may not do.',
  inputSchema: runChildInput,
  outputSchema: runChildOutput,
  // What it does is decided where it does it.
  readOnly: true,
  interruptBehavior: 'cancel',
};

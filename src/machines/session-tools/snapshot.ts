/** A session as it stands, for an agent: what it is, what it came to, what it waits for, who it is related to. */
import * as z from 'zod';
import { depthOf } from '../session/session-state.ts';
import type { SessionState } from '../session/session-state.ts';
import { bounded } from '../retrieval/retrieval-document.ts';
import { MAX_SNAPSHOT_ITEMS, MAX_SNAPSHOT_TEXT_CHARACTERS } from './session-tool-limits.ts';

const relative = z.strictObject({
  sessionId: z.string(),
  agentId: z.string().optional(),
  label: z.string().optional(),
  rest: z.string().optional(),
  summary: z.string().optional(),
});

export const sessionSnapshot = z.strictObject({
  sessionId: z.string(),
  agentId: z.string(),
  title: z.string().optional(),
  createdAt: z.string().optional(),
  updatedAt: z.string().optional(),
  status: z.string(),
  stopReason: z.string().optional(),
  summary: z.string().optional(),
  /** The number of the last event. */
  head: z.number(),
  messages: z.number(),
  wakes: z.number(),
  modelSteps: z.number(),
  used: z.strictObject({ tokens: z.number(), cost: z.number() }),
  unreadMessages: z.number(),
  summarizedThroughSeq: z.number().optional(),
  parked: z.string().optional(),
  environment: z.strictObject({ environmentId: z.string(), sandbox: z.string(), network: z.string() }).optional(),
  outcome: z
    .strictObject({
      title: z.string(),
      seq: z.number(),
      by: z.string(),
      verdict: z.string().optional(),
      because: z.string().optional(),
    })
    .optional(),
  waitsFor: z.array(
    z.strictObject({ requestId: z.string(), kind: z.string(), toolName: z.string(), question: z.string().optional() }),
  ),
  openCalls: z.array(z.strictObject({ callId: z.string(), name: z.string(), seq: z.number(), phase: z.string() })),
  queuedWakes: z.array(z.strictObject({ reason: z.string(), dueAt: z.string(), note: z.string().optional() })),
  lastWake: z
    .strictObject({ wakeId: z.string(), outcome: z.string(), endedAt: z.string(), error: z.string().optional() })
    .optional(),
  parentSessionId: z.string().optional(),
  depth: z.number(),
  forkOf: z.strictObject({ sessionId: z.string(), seq: z.number() }).optional(),
  children: z.array(relative),
  jobs: z.array(relative),
  unreadable: z.string().optional(),
});

export type SessionSnapshot = Readonly<z.output<typeof sessionSnapshot>>;

export function snapshotOf(state: SessionState): SessionSnapshot {
  return {
    sessionId: state.sessionId,
    agentId: state.agentId,
    ...definedOnly({ title: state.title, createdAt: state.createdAt, updatedAt: state.updatedAt }),
    status: state.status,
    ...definedOnly({ stopReason: state.stopReason, summary: short(state.summary) }),
    head: state.head,
    messages: state.messages,
    wakes: state.wakes,
    modelSteps: state.modelSteps,
    used: { tokens: state.used.tokens, cost: state.used.cost },
    unreadMessages: state.pending.filter(({ type }) => type === 'user.message').length,
    ...definedOnly({
      summarizedThroughSeq: state.compactedThroughSeq,
      parked: short(state.parked?.reason),
      environment: environmentOf(state),
      outcome: outcomeOf(state),
    }),
    waitsFor: state.pendingActions.slice(0, MAX_SNAPSHOT_ITEMS).map(({ requestId, kind, toolName, question }) => ({
      requestId,
      kind,
      toolName,
      ...definedOnly({ question: short(question) }),
    })),
    openCalls: state.openToolCalls
      .slice(0, MAX_SNAPSHOT_ITEMS)
      .map(({ callId, name, seq, phase }) => ({ callId, name, seq, phase })),
    queuedWakes: state.queuedWakes.slice(0, MAX_SNAPSHOT_ITEMS).map(({ reason, dueAt, note }) => ({
      reason: short(reason) ?? '',
      dueAt,
      ...definedOnly({ note: short(note) }),
    })),
    ...definedOnly({ lastWake: lastWakeOf(state), parentSessionId: state.parent?.sessionId }),
    depth: depthOf(state),
    ...definedOnly({ forkOf: state.forkOf }),
    children: state.children.slice(-MAX_SNAPSHOT_ITEMS).map(({ sessionId, agentId, label, rest }) => ({
      sessionId,
      agentId,
      ...definedOnly({ label, rest: rest?.reason, summary: short(rest?.summary) }),
    })),
    jobs: state.jobs
      .slice(-MAX_SNAPSHOT_ITEMS)
      .map(({ childSessionId: sessionId, agentId, label }) => ({ sessionId, agentId, ...definedOnly({ label }) })),
    ...definedOnly({ unreadable: state.unreadable?.message }),
  };
}

function environmentOf({ environment }: SessionState): SessionSnapshot['environment'] {
  if (environment === undefined) return undefined;
  const { environmentId, sandbox, network } = environment;
  return { environmentId, sandbox, network };
}

function outcomeOf({ outcome, evaluation }: SessionState): SessionSnapshot['outcome'] {
  if (outcome === undefined) return undefined;
  return {
    title: outcome.title,
    seq: outcome.seq,
    by: outcome.by,
    ...definedOnly({ verdict: evaluation?.verdict, because: short(evaluation?.because) }),
  };
}

function lastWakeOf({ lastWake }: SessionState): SessionSnapshot['lastWake'] {
  if (lastWake === undefined) return undefined;
  const { wakeId, outcome, endedAt, error } = lastWake;
  return { wakeId, outcome, endedAt, ...definedOnly({ error: short(error?.message) }) };
}

function short(text: string | undefined): string | undefined {
  return text === undefined ? undefined : bounded(text, MAX_SNAPSHOT_TEXT_CHARACTERS);
}

type Defined<Fields> = { readonly [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

export function definedOnly<Fields extends object>(fields: Fields): Defined<Fields> {
  // Only what is there is left, which the compiler cannot follow through the entries.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;
}

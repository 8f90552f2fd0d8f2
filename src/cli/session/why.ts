/**
 * `wakechart session why`: what a session works on or waits for, who can move it on, and why this model. A child that
 * is waited for is asked in its turn.
 */
import { ScheduleRegistry } from '../../actors/schedule/durable-registry.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { MAX_SESSION_DEPTH } from '../../machines/session/limits.ts';
import type { SessionEventData } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { ModelExplanation } from '../../machines/session/why-model.ts';
import type { Conditions } from '../../machines/session/why-conditions.ts';
import type { SessionWork } from '../../machines/session/why-work.ts';
import { explain } from '../../machines/session/why.ts';
import type { Reason } from '../../machines/session/why-reason.ts';
import type { Explanation } from '../../machines/session/why.ts';
import { ownRequests } from '../../actors/session/asked-requests.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import { askedLines, askedRecords } from './asked-text.ts';
import { createCronerPlan } from '../../adapters/cron/croner-plan.ts';
import { conditionsOf } from '../../node/conditions.ts';
import type { CommandContext } from '../context.ts';
import { exactLine } from '../../machines/exact-text.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { homeElsewhere, homeOf, homeText, lacksOf, missingHere, missingText } from './workspace-copies.ts';
import type { CopyHome, MissingHere } from './workspace-copies.ts';
import { lastModel, modelLines } from '../model-text.ts';
import { withSessions } from '../open/stores.ts';
import type { SessionStore } from '../open/stores.ts';
import { localTime, printable } from '../terminal/text.ts';
import { wrapped } from '../terminal/text-width.ts';
import { chartDetails, chartSummary } from './why-chart.ts';
import { moverLines, moversElsewhere } from './why-movers.ts';
import { checkedSessionId, statusText } from './session.ts';

/** An explanation with those of the children that the session waits for. */
export interface ExplainedSession extends Omit<Explanation, 'reasons'>, MissingHere {
  readonly reasons: readonly ExplainedReason[];
  /** Why this model; absent when none was asked yet. */
  readonly model?: ModelExplanation | undefined;
  /** Absent where no other machine shares the store, or no worker has woken it yet. */
  readonly home?: CopyHome | undefined;
}

interface ExplainedReason extends Reason {
  /** What is asked of a person, as the log has it; absent where none is asked, or its event cannot be found. */
  readonly asked?: AskedRequest | undefined;
  /** Absent when there is no such session yet. */
  readonly child?: ExplainedSession | undefined;
}

/** The end of a wake stands among the last events of a log. */
const LAST_EVENTS = 50;

export interface ExplainSessionOptions {
  /** With all that its charts say. */
  readonly verbose?: boolean | undefined;
  /** Where a person reads it, what is asked can be answered at once. */
  readonly isInChat?: boolean | undefined;
}

export async function explainSession(
  context: CommandContext,
  session: string,
  { verbose = false, isInChat = false }: ExplainSessionOptions = {},
): Promise<number> {
  const { out, json } = context;
  await withSessions(context, async ({ sessions, agents, workspaceCopies, layout, schedules, clock }) => {
    const nowMs = Date.now();
    const onProblem = (error: unknown): void =>
      void context.err.push(`${context.err.styles.yellow('note:')} ${messageOf(error)}\n`);
    const conditions = await conditionsOf({
      home: context.store === undefined ? layout.home : undefined,
      schedules: new ScheduleRegistry({ ...schedules, cron: createCronerPlan(), clock }),
      onProblem,
    });
    const { sessionWork } = await import('../../node/session-work.ts');
    const workOf = sessionWork({ sessions, layout, clock, onProblem });
    const explained = await explainTree(
      { sessions, agents, workspaceCopies, layout, conditions, workOf, lacks: lacksOf(context, agents) },
      checkedSessionId(session),
      nowMs,
    );
    if (json) return out.document(plain(explained));
    for (const line of explanationLines(context, isInChat ? answeredHere(explained) : explained)) await out.line(line);
    if (explained.chart === undefined) return;
    const lines = verbose
      ? chartDetails(context, explained.chart, { indent: '  ', nowMs })
      : chartSummary(context, explained.chart, { indent: '  ', nowMs, more: isInChat ? '' : ' More with --verbose.' });
    for (const line of lines) await out.line(line);
  });
  return EXIT_SUCCESS;
}

const ANSWERS_HERE = { who: 'person', events: [], does: 'answers it here: /answer puts it again' } as const;

function answeredHere(explained: ExplainedSession): ExplainedSession {
  return {
    ...explained,
    reasons: explained.reasons.map((reason) => ({
      ...reason,
      ...(isAskedHere(reason) ? { movers: [ANSWERS_HERE, ...reason.movers] } : {}),
      ...(reason.child === undefined ? {} : { child: answeredHere(reason.child) }),
    })),
  };
}

function isAskedHere({ movers }: Reason): boolean {
  return movers.some(({ events }) => events.includes('user.tool_confirmation') || events.includes('user.answer'));
}

interface ExplainedStore extends Pick<SessionStore, 'sessions' | 'agents' | 'workspaceCopies' | 'layout'> {
  readonly conditions: Conditions;
  readonly workOf: (state: SessionState) => Promise<SessionWork>;
  readonly lacks: ReturnType<typeof lacksOf>;
}

/** @param nowMs milliseconds since the epoch */
async function explainTree(
  store: ExplainedStore,
  sessionId: string,
  nowMs: number,
  depth = 0,
): Promise<ExplainedSession> {
  const { sessions } = store;
  const state = await sessions.status(sessionId);
  const model = await lastModel(sessions, state);
  const decision = model?.decisions.at(-1);
  const lacks = await store.lacks(state);
  const explanation = explain(state, nowMs, {
    lacks,
    ...(decision?.kind === 'waiting' ? { modelWait: decision } : {}),
    conditions: store.conditions,
    work: state.unreadable === undefined ? await store.workOf(state) : {},
    budget: await reachedBudget(sessions, state),
    isWakeDead: state.openWake !== undefined && (await sessions.hasWakeDied(sessionId)),
    maxSecondsPerWake: await secondsPerWake(store, state),
  });
  const requests = await ownRequests(sessions, state);
  const elsewhere = await homeElsewhere(sessionId, { workspaceCopies: store.workspaceCopies, home: store.layout.home });
  const reasons = await Promise.all(
    explanation.reasons.map(async (given): Promise<ExplainedReason> => {
      const found =
        elsewhere?.bound === undefined
          ? given
          : { ...given, movers: moversElsewhere(given.movers, { sessionId, host: elsewhere.host }) };
      const asked = requests.find(({ requestId }) => requestId === found.requestId);
      const reason = asked === undefined ? found : { ...found, asked };
      if (reason.childSessionId === undefined || depth > MAX_SESSION_DEPTH) return reason;
      const child = await explainTree(store, reason.childSessionId, nowMs, depth + 1).catch(unlessMissing);
      return child === undefined
        ? { ...reason, text: `${reason.text} That session has not been made yet; the next wake makes it.` }
        : { ...reason, child };
    }),
  );
  const home = await homeOf(sessionId, store.workspaceCopies);
  return {
    ...explanation,
    reasons,
    ...(model === undefined ? {} : { model }),
    ...(home === undefined ? {} : { home }),
    ...missingHere(lacks),
  };
}

/** For programs: what is asked stands as it was asked. */
function plain({ reasons, ...explained }: ExplainedSession): object {
  return {
    ...explained,
    reasons: reasons.map(({ asked, child, ...reason }) => ({
      ...reason,
      ...(asked === undefined ? {} : { asked: askedRecords([asked])[0] }),
      ...(child === undefined ? {} : { child: plain(child) }),
    })),
  };
}

async function reachedBudget(
  sessions: Sessions,
  { sessionId, lastWake, head }: SessionState,
): Promise<SessionEventData<'wake.ended'>['budget']> {
  if (lastWake?.outcome !== 'budget_reached') return undefined;
  let budget: SessionEventData<'wake.ended'>['budget'];
  for await (const event of sessions.events(sessionId, { from: Math.max(1, head - LAST_EVENTS) }))
    if (event.type === 'wake.ended') budget = event.data.budget;
  return budget;
}

/** An agent that is gone or cannot be read bounds nothing that could be told. */
async function secondsPerWake(
  { agents }: Pick<SessionStore, 'agents'>,
  { agentId, openWake }: SessionState,
): Promise<number | undefined> {
  if (openWake === undefined) return undefined;
  try {
    return (await agents.get(agentId)).budget.maxSecondsPerWake;
  } catch {
    return undefined;
  }
}

function unlessMissing(error: unknown): undefined {
  if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return undefined;
  throw error;
}

function explanationLines(context: CommandContext, explained: ExplainedSession, indent = ''): string[] {
  const { styles } = context.out;
  return [
    `${indent}${styles.bold(explained.sessionId)}  ${explained.agentId}  ${statusText(explained)}`,
    ...explained.reasons.flatMap((reason) => reasonLines(context, reason, `${indent}  `)),
    ...(explained.home === undefined ? [] : [`${indent}  ${styles.dim(homeText(explained.home))}`]),
    ...(explained.reasons.some(isMissing) ? [] : missingText(explained).map((text) => `${indent}  ${text}`)),
    ...(explained.model === undefined ? [] : modelLines(explained.model, { out: context.out, indent: `${indent}  ` })),
  ];
}

function isMissing({ kind }: Reason): boolean {
  return kind === 'agent_missing' || kind === 'environment_missing';
}

function reasonLines(context: CommandContext, reason: ExplainedReason, indent: string): string[] {
  const { out } = context;
  const { styles } = out;
  const inside = `${indent}  `;
  const sentence = reason.text.replaceAll(/\s+/gu, ' ');
  const texts = wrapped(
    reason.kind === 'permission' ? exactLine(sentence) : printable(sentence),
    out.columns - inside.length,
  );
  const times = [
    reason.since === undefined ? '' : `since ${localTime(reason.since)}`,
    reason.until === undefined ? '' : `until ${localTime(reason.until)}`,
  ]
    .filter(Boolean)
    .join(', ');
  const details = [
    ...(times === '' ? [] : [times]),
    ...(reason.calls ?? []).map(
      ({ callId, name, state }) => `call of ${printable(name)}: ${state} (${printable(callId)})`,
    ),
  ];
  return [
    ...texts.map((text, index) => `${indent}${index === 0 ? styles.cyan('•') : ' '} ${text}`),
    ...details.map((detail) => `${inside}${styles.dim(detail)}`),
    // Before the commands that answer it.
    ...(reason.requestId === undefined
      ? []
      : askedLines(reason.asked, { out, indent: `${inside}  `, tells: isAnswerable(reason) ? 'answerable' : 'call' })),
    ...reason.movers.flatMap((mover) => moverLines(context, mover, inside)),
    ...(reason.child === undefined ? [] : explanationLines(context, reason.child, `${inside}  `)),
  ];
}

/** Not when its time is over. */
function isAnswerable({ movers }: Reason): boolean {
  return movers.some(({ events }) => events.includes('user.tool_confirmation'));
}

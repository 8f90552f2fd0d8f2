/** `wakechart session why`: what a session works on or waits for, and who can move it on. A child that is waited for is asked in its turn. */
import type { Sessions } from '../../../actors/session/sessions.ts';
import { RuntimeError } from '../../../machines/errors.ts';
import { MAX_SESSION_DEPTH } from '../../../machines/session/limits.ts';
import type { SessionEventData } from '../../../machines/session/session-event.ts';
import type { SessionState } from '../../../machines/session/session-state.ts';
import { explain } from '../../../machines/session/why.ts';
import type { Explanation, Reason } from '../../../machines/session/why.ts';
import type { Mover } from '../../../machines/session/why-movers.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { withSessions } from '../stores.ts';
import { localTime, printable } from '../text.ts';
import { wrapped } from '../text-width.ts';
import { checkedSessionId, statusText } from './session.ts';

/** An explanation with those of the children that the session waits for. */
export interface ExplainedSession extends Omit<Explanation, 'reasons'> {
  readonly reasons: readonly ExplainedReason[];
}

interface ExplainedReason extends Reason {
  /** Absent when there is no such session yet. */
  readonly child?: ExplainedSession | undefined;
}

/** The end of a wake stands among the last events of a log. */
const LAST_EVENTS = 50;

export async function explainSession(context: CommandContext, session: string): Promise<number> {
  const { out, json } = context;
  await withSessions(context, async ({ sessions }) => {
    const explained = await explainTree(sessions, checkedSessionId(session), Date.now());
    if (json) return out.document(explained);
    for (const line of explanationLines(context, explained)) await out.line(line);
  });
  return EXIT_SUCCESS;
}

/** @param nowMs milliseconds since the epoch */
export async function explainTree(sessions: Sessions, sessionId: string, nowMs: number, depth = 0): Promise<ExplainedSession> {
  const state = await sessions.status(sessionId);
  const explanation = explain(state, nowMs, { budget: await reachedBudget(sessions, state) });
  const reasons = await Promise.all(
    explanation.reasons.map(async (reason): Promise<ExplainedReason> => {
      if (reason.childSessionId === undefined || depth > MAX_SESSION_DEPTH) return reason;
      const child = await explainTree(sessions, reason.childSessionId, nowMs, depth + 1).catch(unlessMissing);
      return child === undefined ? { ...reason, text: `${reason.text} That session has not been made yet; the next wake makes it.` } : { ...reason, child };
    }),
  );
  return { ...explanation, reasons };
}

async function reachedBudget(sessions: Sessions, { sessionId, lastWake, head }: SessionState): Promise<SessionEventData<'wake.ended'>['budget']> {
  if (lastWake?.outcome !== 'budget_reached') return undefined;
  let budget: SessionEventData<'wake.ended'>['budget'];
  for await (const event of sessions.events(sessionId, { from: Math.max(1, head - LAST_EVENTS) })) if (event.type === 'wake.ended') budget = event.data.budget;
  return budget;
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
  ];
}

function reasonLines(context: CommandContext, reason: ExplainedReason, indent: string): string[] {
  const { out } = context;
  const { styles } = out;
  const texts = wrapped(printable(reason.text).replaceAll(/\s+/gu, ' '), out.columns - indent.length - 2);
  const times = [reason.since === undefined ? '' : `since ${localTime(reason.since)}`, reason.until === undefined ? '' : `until ${localTime(reason.until)}`].filter(Boolean).join(', ');
  const details = [
    ...(times === '' ? [] : [times]),
    ...(reason.calls ?? []).map(({ callId, name, state }) => `call of ${printable(name)}: ${state} (${printable(callId)})`),
    ...(reason.rules ?? []).map((rule) => `"session" and "always" would allow: ${printable(rule)}`),
  ];
  return [
    ...texts.map((text, index) => `${indent}${index === 0 ? styles.cyan('•') : ' '} ${text}`),
    ...details.map((detail) => `${indent}  ${styles.dim(detail)}`),
    ...reason.movers.flatMap((mover) => moverLines(context, mover, `${indent}  `)),
    ...(reason.child === undefined ? [] : explanationLines(context, reason.child, `${indent}    `)),
  ];
}

const WHO = { person: 'somebody', worker: 'a worker', child: 'the child', time: 'by itself:', runtime: 'the runtime' } as const satisfies Record<Mover['who'], string>;

function moverLines(context: CommandContext, { who, does, events, command }: Mover, indent: string): string[] {
  const { styles } = context.out;
  const when = does.replace(/ at (\d{4}-\d\d-\d\dT[\d:.]+Z)$/, (_, at: string) => ` at ${localTime(at)}`);
  const line = `${indent}→ ${WHO[who]} ${when}${events.length === 0 ? '' : ` ${styles.dim(`(${events.join(', ')})`)}`}`;
  return command === undefined ? [line] : [line, `${indent}    ${nextCommand(context, ...command)}`];
}

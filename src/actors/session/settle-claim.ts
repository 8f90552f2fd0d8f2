/** One wake for a worker, and what comes of the session's activation by the way it ends. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { WORKSPACE_COPY_ELSEWHERE, WAKE_ELSEWHERE } from '../../machines/workspace-copy/copy-state.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import type { SessionNews, SessionWorkerPorts } from './session-worker-types.ts';
import { removeSpentHints, removeStrayHints } from './spent-hints.ts';
import type { HintFinding } from './spent-hints.ts';
import type { Claim } from './worker-claim.ts';
import type { WorkerClaims } from './worker-claims.ts';
import type { WorkerReport } from './worker-report.ts';

export interface ClaimHost {
  readonly ports: SessionWorkerPorts;
  readonly claims: WorkerClaims;
  readonly report: WorkerReport;
  /** Whether the worker takes nothing more: then nothing is set aside for later. */
  readonly isStopping: () => boolean;
}

/** What a runtime that is ending says. Its wakes are no failures. */
const ENDING_CODES: ReadonlySet<string> = new Set(['RUNTIME_SHUT_DOWN', 'STORE_CLOSED']);

/** Wakes the session of a claim that has begun, to its end. @returns whether the runtime is ending */
export async function settleClaim(claim: Claim, host: ClaimHost): Promise<boolean> {
  const { ports } = host;
  // It has begun, so there is one.
  const { signal } = claim.abort ?? new AbortController();
  try {
    const { opening } = claim.session;
    const outcome = await ports.wake(claim.sessionId, {
      signal,
      isAutonomous: true,
      ...(opening === undefined ? {} : { opening }),
    });
    if (outcome.outcome === 'nothing_to_do')
      await passOver(claim, host, () => removeSpentHints(claim.sessionId, claim.session.activations, ports));
    else await ended(claim, outcome, host);
    return false;
  } catch (error) {
    return refused(claim, error, host);
  }
}

async function refused(claim: Claim, error: unknown, host: ClaimHost): Promise<boolean> {
  const { ports } = host;
  const code = RuntimeError.is(error) ? error.code : undefined;
  if (code !== undefined && ENDING_CODES.has(code)) {
    host.report.count('aborted');
    host.claims.settle(claim, { tookTurn: false });
    tell(claim, host, { type: 'failed', reason: recordOf(error) });
    return true;
  }
  try {
    if (code === 'WAKE_CONFLICT') contended(claim, host);
    else if (code === WORKSPACE_COPY_ELSEWHERE || code === WAKE_ELSEWHERE) leftToOthers(claim, error, host);
    else if (code === 'SESSION_NOT_FOUND')
      await passOver(claim, host, () => removeStrayHints(claim.sessionId, claim.session.activations, ports));
    else if (code === 'SESSION_TERMINATED')
      await passOver(claim, host, () => removeSpentHints(claim.sessionId, claim.session.activations, ports));
    else broke(claim, error, host);
  } catch (thrown) {
    broke(claim, thrown, host);
  }
  return false;
}

/** The log says how it ended, and made what comes of it due. */
async function ended(claim: Claim, outcome: WakeOutcome, host: ClaimHost): Promise<void> {
  const { clock } = host.ports;
  const tookMs = clock.steadyNow() - claim.beganSteadyMs;
  host.claims.settle(claim, { tookTurn: true, due: await dueAfter(claim, host) });
  host.report.count(COUNTED_AS[outcome.outcome]);
  const { error, summary } = outcome;
  if (COUNTED_AS[outcome.outcome] !== 'failed') return tell(claim, host, { type: 'slept', outcome, tookMs });
  tell(claim, host, {
    type: 'failed',
    reason: error ?? { code: outcome.outcome.toUpperCase(), message: summary },
    outcome,
  });
}

/**
 * What the log leaves due of a session that was woken for one of the same hints before. A sender's hint may come back
 * after a quick wake has dealt with its message: that is no fault of the session, and no other process will examine
 * it.
 */
async function dueAfter(
  claim: Claim,
  { ports, claims, isStopping }: ClaimHost,
): Promise<HintFinding['due'] | undefined> {
  if (isStopping() || !claims.isRepeat(claim)) return undefined;
  try {
    return (await removeSpentHints(claim.sessionId, claim.session.activations, ports)).due;
  } catch {
    // Then all of them count as due still, and the session is held back: time tells.
    return undefined;
  }
}

const COUNTED_AS = {
  sleep: 'succeeded',
  requires_action: 'succeeded',
  rescheduled: 'succeeded',
  interrupted: 'succeeded',
  terminated: 'succeeded',
  budget_reached: 'failed',
  failed: 'failed',
  parked: 'failed',
  aborted: 'aborted',
  nothing_to_do: 'nothingToDo',
} as const satisfies Record<WakeOutcome['outcome'], string>;

/** Nothing was to do. `removeHints` removes what led here in vain; what it leaves has to be examined again. */
async function passOver(claim: Claim, host: ClaimHost, removeHints: () => Promise<HintFinding>): Promise<void> {
  const { left } = await removeHints();
  host.report.count('nothingToDo');
  if (left > 0 && !host.isStopping()) host.claims.setAside(claim, 'early');
  else host.claims.settle(claim, { tookTurn: false });
  tell(claim, host, { type: 'passed' });
}

function contended(claim: Claim, host: ClaimHost): void {
  host.report.count('contended');
  if (host.isStopping()) host.claims.settle(claim, { tookTurn: false });
  else host.claims.setAside(claim, 'contended');
  tell(claim, host, { type: 'contended' });
}

/** It stays due, for the machine that has its folder, or what else it needs. */
function leftToOthers(claim: Claim, error: unknown, host: ClaimHost): void {
  const reason = recordOf(error);
  host.report.count('contended');
  if (host.isStopping()) host.claims.settle(claim, { tookTurn: false });
  else host.claims.setAside(claim, 'elsewhere', reason);
  tell(claim, host, { type: 'contended', reason });
}

function broke(claim: Claim, error: unknown, host: ClaimHost): void {
  const reason = recordOf(error);
  host.report.count('failed');
  if (host.isStopping()) host.claims.settle(claim, { tookTurn: false });
  else host.claims.setAside(claim, 'failed', reason);
  const againAt = claim.againAtMs === undefined ? {} : { againAt: isoTimeOf(claim.againAtMs) };
  const type = claim.phase === 'parked' ? 'parked' : 'failed';
  tell(claim, host, { type, reason, ...againAt });
}

function tell({ sessionId, agentId }: Claim, { ports, report }: ClaimHost, news: SessionNews): void {
  report.tell({ ...news, at: isoTimeOf(ports.clock.now()), sessionId, agentId });
}

function recordOf(error: unknown): ErrorRecord {
  if (RuntimeError.is(error)) return error.toJSON();
  return new RuntimeError('WAKE_CRASHED', `the wake broke: ${messageOf(error)}`, {
    category: 'crash',
    hint: 'This is a defect; please report it.',
  }).toJSON();
}

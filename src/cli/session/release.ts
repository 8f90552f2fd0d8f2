/**
 * `wakechart session release`: takes the folder of a session from the machine that is its home, so that the next wake
 * may begin on any other.
 */
import type { WorkspaceCopyStates } from '../../actors/workspace-copy/copy-store.ts';
import { sessionBusy } from '../../actors/session/event-store.ts';
import type { EventStore, WakeRight } from '../../actors/session/event-store.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { begunWake, mayHaveLost } from '../../machines/workspace-copy/copy-state.ts';
import type { BegunWake } from '../../machines/workspace-copy/copy-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { homeOf } from './workspace-copies.ts';
import type { CopyHome } from './workspace-copies.ts';
import { withSessions } from '../open/stores.ts';
import { printable } from '../terminal/text.ts';
import { usageError } from '../usage.ts';
import { checkedSessionId } from './session.ts';

export async function releaseSession(
  context: CommandContext,
  session: string,
  { isMeant }: { readonly isMeant: boolean },
): Promise<number> {
  const sessionId = checkedSessionId(session);
  await withSessions(context, async ({ sessions, store, workspaceCopies }) => {
    if (workspaceCopies === undefined)
      throw usageError(
        'expected a database: the folder of a session in a home is on this machine and on no other',
        'Name it with --store URL or $WAKECHART_STORE.',
      );
    const state = await sessions.status(sessionId);
    if (!isMeant) return tell(context, { state, home: await homeOf(sessionId, workspaceCopies), isReleased: false });
    const right = await rightOf(state, store);
    try {
      // A wake may have ended before the right was ours.
      const now = await sessions.status(sessionId);
      const home = await homeOf(sessionId, workspaceCopies);
      await tell(context, { state: now, home, isReleased: await release(now, home, workspaceCopies) });
    } finally {
      await right.release();
    }
  });
  return EXIT_SUCCESS;
}

/** While a wake runs its machine is not gone, and it would be refused its copy. @throws RuntimeError SESSION_BUSY */
async function rightOf({ sessionId, epoch, openWake }: SessionState, store: EventStore): Promise<WakeRight> {
  try {
    return await store.acquireWakeRight(sessionId, { epoch, isOpen: openWake !== undefined });
  } catch (error) {
    throw RuntimeError.is(error) && error.code === 'WAKE_CONFLICT' ? sessionBusy(sessionId) : error;
  }
}

async function release(
  { sessionId, epoch }: SessionState,
  home: CopyHome | undefined,
  workspaceCopies: Pick<WorkspaceCopyStates, 'release'>,
): Promise<boolean> {
  if (home === undefined) return false;
  await workspaceCopies.release(sessionId, epoch + 1);
  return true;
}

interface Told {
  readonly state: SessionState;
  readonly home: CopyHome | undefined;
  readonly isReleased: boolean;
}

async function tell(context: CommandContext, { state, home, isReleased }: Told): Promise<void> {
  const { out, json } = context;
  const { sessionId } = state;
  const last = begunWake(state);
  const isLoss =
    home !== undefined && mayHaveLost(home.copyOfWake === undefined ? undefined : { epoch: home.copyOfWake }, last);
  if (json) return out.document({ sessionId, ...home, lastWake: last?.epoch ?? 0, mayHaveLost: isLoss, isReleased });
  if (home === undefined) return out.line(`Session ${sessionId} is at home on no machine: any may wake it.`);
  const { host, bound } = home;
  await out.line(
    isReleased
      ? `${out.styles.green('Released')} session ${sessionId}, which was at home on ${printable(host)}`
      : `Session ${sessionId} is at home on ${printable(host)}${bound === undefined ? '' : `, and no other machine wakes it: ${printable(bound)}`}`,
  );
  await out.line(`  ${isLoss ? out.styles.yellow('May be lost:') : 'Lost:'} ${printable(lossText(home, last))}`);
  if (isReleased) {
    await out.line('  A worker that had left it alone checks it again within 5 minutes; this wakes it here at once:');
    return out.line(`Next: ${nextCommand(context, 'wake', '--session', sessionId)}`);
  }
  if (bound === undefined)
    await out.line('  Nothing binds it there: any machine takes it over from its copy, without this.');
  await out.line(
    `When ${printable(host)} is gone for good: ${nextCommand(context, 'session', 'release', '--session', sessionId, '--yes')}`,
  );
}

/** What the next wake, on another machine, will not find. */
function lossText({ host, copyOfWake }: CopyHome, last: BegunWake | undefined): string {
  const rest = `That stays on ${host}; when it comes back and wakes the session, it is put aside there, not deleted.`;
  if (copyOfWake === undefined)
    return `everything in its folder. There is no copy of it, and the next wake begins with an empty one. ${rest}`;
  if (last !== undefined && copyOfWake < last.epoch)
    return `what was changed in its folder after wake ${copyOfWake}, the newest that left a copy; the last wake was ${last.epoch}. ${rest}`;
  if (last?.hasDied === true)
    return `what was changed in its folder after the copy that its last wake, which did not come to its end, left. ${rest}`;
  return `only what was changed in its folder after its last wake, which left a copy. ${rest}`;
}

/** What has become of a process that wakes a session, or woke it before. */
import type { ShownSession } from '../../../actors/inspection/shown-answers.ts';
import type { StatusWords } from '../../../machines/inspection-log/session-words.ts';
import type { ReasonKind } from '../../../machines/session/why-reason.ts';

interface WakerWords {
  readonly words: StatusWords;
  /** It wakes the session no more. */
  readonly isOver: boolean;
}

export function wakerWords(
  { takenBy, processorMs, isSuspended }: NonNullable<ShownSession['worker']>,
  { reasons }: { readonly reasons: readonly { readonly kind: ReasonKind }[] },
): WakerWords {
  const has = (which: ReasonKind): boolean => reasons.some(({ kind }) => kind === which);
  const over = (text: string, status: StatusWords['status']): WakerWords => ({ words: { text, status }, isOver: true });
  // Of another machine it is unknown whether it lives.
  if (takenBy !== undefined)
    return over(`${processorMs === undefined ? '' : 'lives, '}its wake was taken by ${takenBy}`, 'waiting');
  if (has('lost')) return over('lives, its wake was lost', 'waiting');
  if (has('dead')) return over('died', 'error');
  return isSuspended === true
    ? { words: { text: 'wakes it, and is suspended', status: 'error' }, isOver: false }
    : { words: { text: 'wakes it', status: 'running' }, isOver: false };
}

const FORMER = {
  running: { text: 'lives', status: 'quiet' },
  suspended: { text: 'is suspended', status: 'error' },
  gone: { text: 'is gone', status: 'quiet' },
} as const satisfies Record<FormerState, StatusWords>;

type FormerState = NonNullable<ShownSession['formerWorkers']>[number]['state'];

/** @param isLost its last wake did not come to its end: another went on with it */
export function formerWords(state: FormerState, isLost: boolean): StatusWords {
  const { text, status } = FORMER[state];
  return { text: isLost ? `${text}, its wake was taken by another` : `woke it before, and ${text}`, status };
}

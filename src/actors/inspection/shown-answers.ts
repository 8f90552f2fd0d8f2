/** What a source tells of sessions, with what people read of it: words, trees and lines instead of what they are made from. It is redacted before, and stays so. */
import { isWaitingForSomebody, standingOf, standingWords, VERDICTS } from '../../machines/inspection-log/session-words.ts';
import type { StandingWords } from '../../machines/inspection-log/session-words.ts';
import { treeOfProcesses } from '../../machines/inspection-log/process-branches.ts';
import type { ProcessBranch } from '../../machines/inspection-log/process-branches.ts';
import { transcriptStep } from '../../machines/inspection-log/transcript-step.ts';
import type { TranscriptStep } from '../../machines/inspection-log/transcript-step.ts';
import { filesOfDifference } from '../../machines/inspection-log/unified-difference.ts';
import type { DifferenceFile } from '../../machines/inspection-log/unified-difference.ts';
import { priceWords, usageWords, wakeWords } from '../../machines/inspection-log/wake-words.ts';
import type { InspectedChanges, InspectedEvents, InspectedProcess, InspectedSession, InspectedSessions, InspectedSessionSummary, InspectedUsage, InspectedWake } from './inspection-source.ts';

export interface ShownSummary extends InspectedSessionSummary {
  /** How it stands. */
  readonly words: StandingWords;
  /** Whether somebody outside has to do something. */
  readonly isWaiting: boolean;
}

export interface ShownSessions extends InspectedSessions {
  /** Those that wait for somebody first, then those that changed last. */
  readonly sessions: readonly ShownSummary[];
}

export interface ShownSession extends InspectedSession {
  readonly words: StandingWords;
  /** Whether its goal is reached, as the end of a sentence. */
  readonly verdict?: string | undefined;
  readonly usage: ShownUsage;
}

export interface ShownUsage extends InspectedUsage {
  readonly words: string;
  readonly wakes: readonly ShownWake[];
}

export interface ShownWake extends InspectedWake {
  readonly words: StandingWords;
  readonly price?: string | undefined;
}

export type ShownProcess = ProcessBranch<InspectedProcess>;

export interface ShownChanges extends Omit<InspectedChanges, 'difference'> {
  /** Line by line. */
  readonly differences: readonly DifferenceFile[];
}

/** A part of a transcript. */
export interface ShownSteps {
  readonly steps: readonly TranscriptStep[];
  /** Number of the newest event of the log. */
  readonly head: number;
}

export function shownSessions({ sessions, ...rest }: InspectedSessions): ShownSessions {
  const shown = sessions.map((session) => ({ ...session, words: standingWords(session), isWaiting: isWaitingForSomebody(session) }));
  const changed = ({ updatedAt }: ShownSummary): number => Date.parse(updatedAt ?? '') || 0;
  return { ...rest, sessions: shown.toSorted((one, other) => Number(other.isWaiting) - Number(one.isWaiting) || changed(other) - changed(one)) };
}

export function shownSession(session: InspectedSession): ShownSession {
  const { state, why, usage } = session;
  const wakes = usage.wakes.map((wake, index) => ({
    ...wake,
    words: wakeWords(wake.outcome, state.pendingActions.length > 0 && index === usage.wakes.length - 1),
    ...(wake.cost === undefined ? {} : { price: priceWords(wake.cost) }),
  }));
  return {
    ...session,
    words: standingOf(why.reasons[0]?.kind ?? 'nothing'),
    ...(state.evaluation === undefined ? {} : { verdict: VERDICTS[state.evaluation.verdict] }),
    usage: { ...usage, words: usageWords(usage), wakes },
  };
}

export function shownProcesses(processes: readonly InspectedProcess[]): readonly ShownProcess[] {
  return treeOfProcesses(processes);
}

export function shownChanges({ difference, ...changes }: InspectedChanges): ShownChanges {
  return { ...changes, differences: filesOfDifference(difference) };
}

export function shownSteps({ events, head }: InspectedEvents): ShownSteps {
  return { steps: events.map(transcriptStep), head };
}

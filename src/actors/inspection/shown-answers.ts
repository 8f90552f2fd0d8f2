/**
 * What a source tells of sessions, with what people read of it: words, trees and lines instead of what they are made
 * from. It is redacted before, and stays so.
 */
import { partsOf } from '../../machines/inspection-log/data-parts.ts';
import type { DataPart } from '../../machines/inspection-log/data-parts.ts';
import { oddities } from '../../machines/exact-text.ts';
import { needOf, statusOf, statusWords, VERDICTS } from '../../machines/inspection-log/session-words.ts';
import type { SessionNeed, StatusWords } from '../../machines/inspection-log/session-words.ts';
import { treeOfProcesses } from '../../machines/inspection-log/process-branches.ts';
import type { ProcessBranch } from '../../machines/inspection-log/process-branches.ts';
import { transcriptStep } from '../../machines/inspection-log/transcript-step.ts';
import type { TranscriptStep } from '../../machines/inspection-log/transcript-step.ts';
import { filesOfDifference } from '../../machines/inspection-log/unified-difference.ts';
import type { DifferenceFile } from '../../machines/inspection-log/unified-difference.ts';
import { priceWords, usageWords, wakeWords } from '../../machines/inspection-log/wake-words.ts';
import type { Reason } from '../../machines/session/why-reason.ts';
import type { Explanation } from '../../machines/session/why.ts';
import type { Mover } from '../../machines/session/why-movers.ts';
import type {
  InspectedChanges,
  InspectedEvents,
  FarProcesses,
  InspectedProcess,
  InspectedRequest,
  InspectedSession,
  InspectedSessions,
  InspectedSessionSummary,
} from './inspection-source.ts';
import type { InspectedUsage, InspectedWake } from '../../machines/inspection-log/session-usage.ts';

export interface ShownSummary extends InspectedSessionSummary {
  /** How it stands. */
  readonly words: StatusWords;
  /** What it needs of a person. Absent: nothing. */
  readonly need?: SessionNeed | undefined;
}

export interface ShownSessions extends InspectedSessions {
  /** Those that wait for an answer first, then those that need attention, then those that changed last. */
  readonly sessions: readonly ShownSummary[];
}

export interface ShownSession extends InspectedSession {
  readonly words: StatusWords;
  /** Whether its goal is reached, as the end of a sentence. */
  readonly verdict?: string | undefined;
  readonly why: ShownExplanation;
  readonly pendingActions: readonly ShownRequest[];
  readonly usage: ShownUsage;
}

export interface ShownExplanation extends Explanation {
  readonly reasons: readonly ShownReason[];
}

export interface ShownReason extends Reason {
  readonly movers: readonly ShownMover[];
}

export interface ShownMover extends Mover {
  /** Who does what, as a sentence. */
  readonly text: string;
}

/** Its input part by part. */
export interface ShownRequest extends Omit<InspectedRequest, 'input'> {
  readonly parts: readonly DataPart[];
  /** Among which a question lets choose. */
  readonly choices: readonly string[];
  /** Not all that is asked for is shown. */
  readonly isPartial?: true | undefined;
  /** What the person who answers has to know, a sentence or two each. */
  readonly warnings: readonly string[];
}

export interface ShownUsage extends InspectedUsage {
  readonly words: string;
  readonly wakes: readonly ShownWake[];
}

export interface ShownWake extends InspectedWake {
  readonly words: StatusWords;
  readonly price?: string | undefined;
}

export type ShownProcess = ProcessBranch<InspectedProcess>;

export interface ShownProcesses {
  readonly processes: readonly ShownProcess[];
  /** As the program tells them that wakes it, where that is another. */
  readonly far?: (Omit<FarProcesses, 'processes'> & { readonly processes: readonly ShownProcess[] }) | undefined;
}

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

const NEEDS: readonly (SessionNeed | undefined)[] = ['answer', 'attention', 'left', undefined];

export function shownSessions({ sessions, ...rest }: InspectedSessions): ShownSessions {
  const shown = sessions.map((session) => ({
    ...session,
    words: statusWords(session),
    need: needOf(session),
  }));
  const changed = ({ updatedAt }: ShownSummary): number => Date.parse(updatedAt ?? '') || 0;
  return {
    ...rest,
    sessions: shown.toSorted(
      (one, other) => NEEDS.indexOf(one.need) - NEEDS.indexOf(other.need) || changed(other) - changed(one),
    ),
  };
}

export function shownSession(session: InspectedSession): ShownSession {
  const { state, why, usage, pendingActions } = session;
  const reasons = why.reasons.map((reason, index) => shownReason(reason, index > 0 || pendingActions.length > 0));
  const wakes = usage.wakes.map((wake, index) => ({
    ...wake,
    words: wakeWords(wake.outcome, state.pendingActions.length > 0 && index === usage.wakes.length - 1),
    ...(wake.cost === undefined ? {} : { price: priceWords(wake.cost) }),
  }));
  return {
    ...session,
    words: statusOf(why.reasons[0]?.kind ?? 'nothing'),
    ...(state.evaluation === undefined ? {} : { verdict: VERDICTS[state.evaluation.verdict] }),
    why: { ...why, reasons },
    pendingActions: pendingActions.map(shownRequest),
    usage: { ...usage, words: usageWords(usage), wakes },
  };
}

const WHO: Readonly<Record<Mover['who'], string>> = {
  person: 'A person',
  worker: 'A worker',
  child: 'The other agent',
  time: 'Time',
  runtime: 'The process that runs it',
};

/** @param hasRequest a request is shown beside it, which says itself why it asks */
function shownReason(reason: Reason, hasRequest: boolean): ShownReason {
  // Of a very large explanation the last parts may have been cut away.
  const left: Partial<Reason> = reason;
  const [text, movers] = [left.text ?? '', left.movers ?? []];
  return {
    ...reason,
    text: hasRequest ? text.replace(/^(It waits for permission to run [^(]+?) \(.*\)\.$/s, '$1.') : text,
    movers: movers.map((mover) => ({ ...mover, text: `${WHO[mover.who]} ${mover.does}` })),
  };
}

function shownRequest({ input, ...request }: InspectedRequest): ShownRequest {
  const { kind, question, isCut, because = kind === 'permission' ? question : undefined } = request;
  const isQuestion = kind === 'answer';
  const parts = isQuestion || input === undefined ? [] : partsOf(input);
  const odd = oddities(parts.map(({ text }) => text).join('\n'));
  return {
    ...request,
    ...(because === undefined ? {} : { because }),
    parts,
    choices: isQuestion ? choicesOf(input) : [],
    ...(isCut === true || (!isQuestion && input === undefined) ? { isPartial: true } : {}),
    warnings: [
      ...(isQuestion || input !== undefined
        ? []
        : ['What exactly is asked for could not be looked up. Check the log before you allow it.']),
      ...(isCut === true
        ? ['There is more of it than is shown here. Check all of it in the log before you allow it.']
        : []),
      ...(odd === undefined ? [] : [odd]),
    ],
  };
}

function choicesOf(input: unknown): readonly string[] {
  const choices: readonly unknown[] =
    typeof input === 'object' && input !== null && 'choices' in input && Array.isArray(input.choices)
      ? input.choices
      : [];
  return choices.filter((choice) => typeof choice === 'string').filter((choice) => choice !== '');
}

/** What another program tells of this machine is its own to end, and is shown once. */
export function shownProcesses(processes: readonly InspectedProcess[], far: FarProcesses | undefined): ShownProcesses {
  if (far === undefined) return { processes: treeOfProcesses(processes) };
  const told = new Set(far.processes.map(({ pid, taskId }) => `${pid} ${taskId ?? ''}`));
  const others = processes.filter(({ pid, taskId, host }) => host !== 'other' || !told.has(`${pid} ${taskId ?? ''}`));
  return { processes: treeOfProcesses(others), far: { ...far, processes: treeOfProcesses(far.processes) } };
}

export function shownChanges({ difference, ...changes }: InspectedChanges): ShownChanges {
  return { ...changes, differences: filesOfDifference(difference) };
}

export function shownSteps({ events, head }: InspectedEvents): ShownSteps {
  return { steps: events.map(transcriptStep), head };
}

/**
 * Answers that were given here: each request is answered once, however often the user clicks, and what was being
 * written is kept.
 */
import { signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type { InspectionAnswer } from '../../../actors/inspection/inspection-source.ts';
import { failureOf, server } from '../model/transport.ts';

export type GivenAnswer =
  | { readonly name: 'sending'; readonly answer: InspectionAnswer }
  /** `seq`: number of the event that it is stored as; `atMs`: when that was told, in milliseconds since the epoch. */
  | { readonly name: 'stored'; readonly answer: InspectionAnswer; readonly seq: number; readonly atMs: number }
  /** `isUnknown`: no reply said whether it was stored. The same again changes nothing. */
  | {
      readonly name: 'refused';
      readonly answer: InspectionAnswer;
      readonly message: string;
      readonly hint: string;
      readonly isUnknown: boolean;
    };

interface AnswerState {
  readonly given: Signal<GivenAnswer | undefined>;
  readonly draft: Signal<string>;
}

const MAX_DESKS = 500;
const answerStates = new Map<string, AnswerState>();
let lastStoredAt = Number.NEGATIVE_INFINITY;

/** By the id of the request, which is unique. */
export function answerStateOf(requestId: string): AnswerState {
  const found = answerStates.get(requestId) ?? { given: signal<GivenAnswer | undefined>(undefined), draft: signal('') };
  answerStates.delete(requestId);
  answerStates.set(requestId, found);
  for (const oldest of answerStates.keys()) {
    if (answerStates.size <= MAX_DESKS) break;
    answerStates.delete(oldest);
  }
  return found;
}

/**
 * Whether a request that appears now may have come under a pointer that was about to click something else. @param nowMs
 * of `performance.now()`
 */
export function isJustAnswered(nowMs: number): boolean {
  const SOON_MS = 1_000;
  return nowMs - lastStoredAt < SOON_MS;
}

/** @param settled is told when the server has answered, whatever it said */
export async function give(sessionId: string, answer: InspectionAnswer, settled: () => Promise<void>): Promise<void> {
  const { given, draft } = answerStateOf(answer.requestId);
  if (given.value?.name === 'sending' || given.value?.name === 'stored') return;
  given.value = { name: 'sending', answer };
  try {
    const { seq } = await server.answer(sessionId, answer);
    lastStoredAt = performance.now();
    given.value = { name: 'stored', answer, seq, atMs: Date.now() };
    draft.value = '';
  } catch (error) {
    const { message, hint, status } = failureOf(error);
    given.value = { name: 'refused', answer, message, hint, isUnknown: status === 0 || status >= 500 };
  }
  await settled();
}

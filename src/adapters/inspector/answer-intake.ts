/** Takes answers to requests that wait, each once: the same again gives the same receipt, another one is refused. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { InspectionAnswer, InspectionSource } from '../../actors/inspection/inspection-source.ts';
import type { SendReceipt } from '../../actors/session/ingress.ts';
import { canonicalJson } from '../../machines/canonical-json.ts';
import { approvalScope } from '../../machines/session/event-parts.ts';
import { MAX_MESSAGE_CHARACTERS } from '../../machines/session/limits.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { Refusal } from './refusal.ts';

/** Older ones are forgotten: the source knows them as well. */
const MAX_REMEMBERED = 1_000;

const requestId = z.string().min(1).max(200);
const note = z.string().min(1).max(2_000).optional();

const schema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('allow'), requestId, scope: approvalScope.optional(), note }),
  z.strictObject({ type: z.literal('deny'), requestId, note }),
  z.strictObject({ type: z.literal('answer'), requestId, text: z.string().min(1).max(MAX_MESSAGE_CHARACTERS) }),
]);

interface Given {
  /** Digest of the answer: a thousand long ones would be a burden. */
  readonly content: string;
  readonly receipt: Promise<SendReceipt>;
}

export class AnswerIntake {
  readonly #source: Pick<InspectionSource, 'answer'>;
  readonly #given = new Map<string, Given>();

  constructor(source: Pick<InspectionSource, 'answer'>) {
    this.#source = source;
  }

  /**
   * @throws RuntimeError `validation` for what is no answer, 409 for a second that says something else, and what the
   * source throws
   */
  async take(sessionId: string, body: unknown): Promise<SendReceipt> {
    const answer = parseOrThrow(schema, body, {
      what: 'answer',
      code: 'INSPECTOR_ANSWER_INVALID',
      hint: 'Send { type: "allow" | "deny" | "answer", requestId }, with text for an answer.',
    });
    const key = JSON.stringify([sessionId, answer.requestId]);
    const content = createHash('sha256').update(canonicalJson(answer)).digest('base64');
    const before = this.#given.get(key);
    if (before === undefined) return this.#give(key, content, { sessionId, answer });
    if (before.content === content) return before.receipt;
    // One that the source refused has changed nothing, so the other may still be given.
    await before.receipt.catch(() => undefined);
    if (this.#given.get(key) === before)
      throw new Refusal(409, 'INSPECTOR_ANSWERED_OTHERWISE', 'this request was answered otherwise before', {
        hint: 'Check the session: the first answer counts.',
      });
    return this.take(sessionId, body);
  }

  async #give(
    key: string,
    content: string,
    { sessionId, answer }: { readonly sessionId: string; readonly answer: InspectionAnswer },
  ): Promise<SendReceipt> {
    const receipt = this.#source.answer(sessionId, answer);
    const given = { content, receipt };
    this.#given.set(key, given);
    for (const [oldest] of this.#given) {
      if (this.#given.size <= MAX_REMEMBERED) break;
      this.#given.delete(oldest);
    }
    try {
      return await receipt;
    } catch (error) {
      if (this.#given.get(key) === given) this.#given.delete(key);
      throw error;
    }
  }
}

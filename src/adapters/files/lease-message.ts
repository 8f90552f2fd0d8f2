/**
 * What is said over the socket of a lease: one JSON object per line, short, and checked. Whatever is not one of these
 * messages is passed over, so that a stranger does no harm and a newer version may say more.
 *
 *   asker  → holder   {"type":"ask"}                                             are you alive?
 *   holder → asker    {"type":"alive","phase":"held","epoch":5,"pid":77,"host":"…"}   at once, and again when the phase changes
 *   taker  → holder   {"type":"passed","by":6}                                   you were silent; epoch 6 has taken over
 *   reader → holder   {"type":"follow","by":"…"}                                 what does the model say? words come, see word-lines.ts
 */
import * as z from 'zod';
import { LEASE_PHASES } from '../../machines/wake/lease-machine.ts';

/** Longest line that we send, in characters. */
export const MAX_MESSAGE_LENGTH = 1_024;

const epoch = z.int().positive();

const leaseAnswer = z.object({
  type: z.literal('alive'),
  phase: z.enum(LEASE_PHASES),
  epoch,
  pid: z.int().nonnegative(),
  host: z.string().max(256),
});

const leaseMessage = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ask') }),
  leaseAnswer,
  z.object({ type: z.literal('passed'), by: epoch }),
  z.object({ type: z.literal('follow'), by: z.string().min(1).max(64) }),
]);

export type LeaseAnswer = Readonly<z.output<typeof leaseAnswer>>;

export type LeaseMessage = Readonly<z.output<typeof leaseMessage>>;

export function encodeMessage(message: LeaseMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/** Puts the pieces that a connection delivers together into messages. */
export class MessageReader {
  #rest = '';

  /**
   * The messages that `text` completes; undefined when a line is longer than any of ours, and the sender none of ours.
   */
  read(text: string): LeaseMessage[] | undefined {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MAX_MESSAGE_LENGTH || lines.some(({ length }) => length > MAX_MESSAGE_LENGTH))
      return undefined;
    return lines.flatMap(messagesIn);
  }
}

function messagesIn(line: string): LeaseMessage[] {
  try {
    const { data } = leaseMessage.safeParse(JSON.parse(line));
    return data === undefined ? [] : [data];
  } catch {
    return [];
  }
}

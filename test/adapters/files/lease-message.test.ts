import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_MESSAGE_LENGTH, MessageReader, encodeMessage } from '../../../src/adapters/files/lease-message.ts';
import type { LeaseMessage } from '../../../src/adapters/files/lease-message.ts';

const epoch = fc.integer({ min: 1 });
const message: fc.Arbitrary<LeaseMessage> = fc.oneof(
  fc.constant<LeaseMessage>({ type: 'ask' }),
  fc.record({ type: fc.constant('passed' as const), by: epoch }),
  fc.record({
    type: fc.constant('alive' as const),
    phase: fc.constantFrom('contending' as const, 'held' as const, 'lost' as const),
    epoch,
    pid: fc.nat(),
    host: fc.string({ maxLength: 64 }),
  }),
);

/** `text` in pieces, cut at the places that `cuts` name. */
function piecesOf(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((one, other) => one - other), text.length];
  return places.slice(1).map((end, index) => text.slice(places[index], end));
}

describe('what is said over the socket of a lease', () => {
  it('arrives as it was sent, however the connection cuts it up', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 8 }), (messages, cuts) => {
        const reader = new MessageReader();
        expect(piecesOf(messages.map(encodeMessage).join(''), cuts).flatMap((piece) => reader.read(piece))).toEqual(
          messages,
        );
      }),
    );
  });

  it('is not drowned by lines that are none of ours', () => {
    const noise = fc
      .oneof(
        fc.string({ maxLength: 100 }),
        fc.json().map((text) => text.slice(0, 500)),
      )
      .map((text) => text.replaceAll('\n', ' '));
    fc.assert(
      fc.property(fc.array(noise), message, (lines, meant) => {
        const heard = new MessageReader().read(`${lines.map((line) => `${line}\n`).join('')}${encodeMessage(meant)}`);
        expect(heard?.at(-1)).toEqual(meant);
      }),
    );
  });

  it('may say more than we know', () => {
    expect(new MessageReader().read('{"type":"passed","by":3,"why":"new"}\n{"type":"sing"}\n')).toEqual([
      { type: 'passed', by: 3 },
    ]);
  });

  it.each([
    '{"type":"passed"}',
    '{"type":"passed","by":0}',
    '{"type":"passed","by":1.5}',
    '{"type":"passed","by":1e300}',
    '{"type":"alive","phase":"king","epoch":1,"pid":1,"host":"h"}',
    `{"type":"alive","phase":"held","epoch":1,"pid":1,"host":"${'h'.repeat(300)}"}`,
  ])('is nothing when it is %s', (line) => {
    expect(new MessageReader().read(`${line}\n`)).toEqual([]);
  });

  it('ends with a line that is longer than any of ours, finished or not', () => {
    const long = 'x'.repeat(MAX_MESSAGE_LENGTH + 1);
    expect(new MessageReader().read(`{"type":"ask"}\n${long}`)).toBeUndefined();
    expect(new MessageReader().read(`${long}\n{"type":"ask"}\n`)).toBeUndefined();
    const slow = new MessageReader();
    expect(slow.read('x'.repeat(MAX_MESSAGE_LENGTH))).toEqual([]);
    expect(slow.read('x')).toBeUndefined();
  });
});

import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { TextTail } from '../../../src/actors/run/text-tail.ts';
import { SecretRedaction } from '../../../src/machines/vault/secret-redaction.ts';

const redaction = new SecretRedaction(new Map([['KEY', 'battery-horse']]));

async function tailOf(pieces: readonly string[]): Promise<string> {
  const tail = new TextTail(redaction);
  const stream = Readable.from(
    pieces.map((piece) => Buffer.from(piece)),
    { objectMode: false },
  );
  tail.follow(stream);
  await new Promise((resolve) => stream.once('end', resolve));
  return tail.toString();
}

describe('the tail of what a program says', () => {
  it('is all of it while it is short', async () => {
    expect(await tailOf(['one\n', 'two\n'])).toBe('one\ntwo');
    expect(await tailOf([])).toBe('');
  });

  it('is its end, marked as cut, once it is long', async () => {
    const tail = await tailOf([
      ...Array.from({ length: 500 }, (_, index) => `line ${index} of many that nobody needs\n`),
      'the end',
    ]);
    expect(tail).toMatch(/^….*the end$/s);
    expect(tail.length).toBeLessThanOrEqual(2_001);
  });

  it('holds no secret and no part of one, wherever it is cut', async () => {
    const words = 'correct battery-horse, '.repeat(4_000);
    const tail = await tailOf([
      ...Array.from({ length: Math.ceil(words.length / 997) }, (_, index) =>
        words.slice(index * 997, (index + 1) * 997),
      ),
      'the end',
    ]);
    expect(tail).toMatch(/the end$/);
    expect(tail).not.toMatch(/battery|horse/);
  });

  it('stays what it was when the stream breaks', async () => {
    const tail = new TextTail(redaction);
    const stream = new Readable({ read: () => undefined });
    tail.follow(stream);
    stream.push('said before');
    await new Promise((resolve) => stream.once('data', resolve));
    stream.destroy(new Error('broken'));
    await new Promise((resolve) => stream.once('close', resolve));
    expect(tail.toString()).toBe('said before');
  });
});

import { describe, expect, it } from 'vitest';
import { SaidSoFar } from '../../../src/actors/run/said-so-far.ts';
import { SecretRedaction } from '../../../src/machines/vault/secret-redaction.ts';
import type { AgentRunEventBody } from '../../../src/machines/run/run-output.ts';

function speaker(): {
  readonly said: SaidSoFar;
  readonly told: string[];
  readonly say: (what: 'text' | 'reasoning', block: number, ...texts: readonly string[]) => void;
} {
  const told: string[] = [];
  const emit = ({ data }: AgentRunEventBody): void => void ('text' in data && told.push(data.text));
  const said = new SaidSoFar({ redaction: new SecretRedaction(new Map([['KEY', 'battery-horse']])), emit });
  return { said, told, say: (what, block, ...texts) => texts.forEach((text) => said.add({ what, block, text })) };
}

describe('what the model of a program says', () => {
  it('is streamed piece by piece, and kept as one payload for each block', () => {
    const { said, told, say } = speaker();
    say('reasoning', 0, 'Let me', ' see.');
    expect(said.hasText).toBe(false);
    say('text', 0, 'One', '', ' two.');
    say('text', 1, 'Three.');
    expect(told).toEqual(['Let me', ' see.', 'One', ' two.', 'Three.']);
    expect(said.payloads()).toEqual([
      { type: 'reasoning', text: 'Let me see.' },
      { type: 'text', text: 'One two.' },
      { type: 'text', text: 'Three.' },
    ]);
    expect([said.hasText, said.characters]).toEqual([true, 'Let me see.One two.Three.'.length]);
  });

  it('holds no secret, though that comes in pieces', () => {
    const { said, told, say } = speaker();
    say('text', 0, 'It is batt', 'ery-ho', 'rse, and batt');
    expect(told.join('')).toBe('It is [redacted KEY], and ');
    expect(said.payloads()).toEqual([{ type: 'text', text: 'It is [redacted KEY], and batt' }]);
    expect(told.join('')).toBe('It is [redacted KEY], and batt');
  });

  it('is nothing when nothing was said', () => {
    const { said, told, say } = speaker();
    say('text', 0, '');
    said.end();
    expect([said.payloads(), said.hasText, told]).toEqual([[], false, []]);
  });
});

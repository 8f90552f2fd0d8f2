/** Secrets where texts are cut: none of them is shown in part, however long it is and wherever the text ends. */
import { describe, expect, it } from 'vitest';
import { InspectedText } from '../../../src/actors/inspection/inspected-text.ts';
import { SessionChanges } from '../../../src/actors/inspection/session-changes.ts';
import { KnownSecrets } from '../../../src/actors/vault/known-secrets.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { StatelyText } from '../../../src/machines/inspection-log/stately-text.ts';
import type { TextRedaction } from '../../../src/machines/vault/text-redaction.ts';

const TOKEN = 'ghp_0a1b2c3d4e5f60718293a4b5c6d7e8f9';
const LONG = Array.from({ length: 4_000 }, (_, index) => index.toString(36).padStart(3, 'Z')).join('');

function redactionOf(...secrets: readonly string[]): TextRedaction {
  const known = new KnownSecrets();
  for (const [index, secret] of secrets.entries()) known.learn(`vault/${index}`, secret);
  return Object.assign((text: string) => known.redaction?.text(text) ?? text, {
    longest: () => known.redaction?.scan.longest ?? 0,
  });
}

const shows = (text: string, secret: string): boolean =>
  text.includes(secret.slice(0, 12)) || text.includes(secret.slice(-12));

describe('a secret that is longer than most', () => {
  it('is not shown in part where the text is cut', () => {
    const redact = redactionOf(LONG);
    const textAround = (before: number): string => `${'.'.repeat(before)}${LONG}${'.'.repeat(20_000)}`;
    // In reach of the usual margin, and beyond it.
    for (const shown of [12, 900, 3_500, 4_500]) {
      expect(shows(new InspectedText(redact).cut(textAround(300), 300 + shown), LONG)).toBe(false);
      expect(shows(JSON.stringify(new StatelyText(redact).payload({ text: textAround(12_000 - shown) })), LONG)).toBe(
        false,
      );
    }
  });
});

describe('a difference that is cut', () => {
  it('shows no part of the secret that was torn at its end', async () => {
    const text = new InspectedText(redactionOf(TOKEN));
    for (let at = 0; at < TOKEN.length; at += 4) {
      const changes = new SessionChanges({
        clock: createSimulatedClock(),
        text,
        workspaceOf: () => '/somewhere',
        onProblem: (error) => expect.unreachable(String(error)),
        // Redacted it is so much shorter that its end is shown.
        folders: {
          read: (_folder, { maxCharacters }) =>
            Promise.resolve({
              files: [],
              fileCount: 0,
              difference: `${'.'.repeat(at)}${`key ${TOKEN}\n`.repeat(Math.ceil(maxCharacters / TOKEN.length))}`.slice(
                0,
                maxCharacters,
              ),
              isCut: true,
            }),
        },
      });
      const [change] = await changes.of(
        { sessionId: 's' } as Parameters<SessionChanges['of']>[0],
        { jobs: [] } as unknown as Parameters<SessionChanges['of']>[1],
      );
      expect(change?.difference).toContain('key [redacted vault/0]');
      expect(change?.difference).not.toContain('ghp_');
    }
  });
});

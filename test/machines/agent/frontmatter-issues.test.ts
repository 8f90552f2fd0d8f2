/** What is wrong with a file that people write, in words: what was expected, and what came instead. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { frontmatterIssues } from '../../../src/machines/agent/frontmatter-issues.ts';

const schema = z.strictObject({
  sandbox: z.enum(['required', 'off']),
  bytes: z.number().int().min(1).max(9).optional(),
  token: z.string().min(4).regex(/^t/).optional(),
});

function complaints(value: unknown, reportInput = true): readonly string[] {
  const parsed = schema.safeParse(value, { reportInput });
  return parsed.success
    ? []
    : frontmatterIssues(parsed.error, schema).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('a complaint about a value', () => {
  it.each([
    [{ sandbox: 'on' }, 'sandbox: expected one of "required"|"off", received "on"'],
    [{ sandbox: false }, 'sandbox: expected one of "required"|"off", received false'],
    [{}, 'sandbox: expected one of "required"|"off", received nothing'],
    [{ sandbox: ['off'] }, 'sandbox: expected one of "required"|"off", received a list'],
    [{ sandbox: { off: true } }, 'sandbox: expected one of "required"|"off", received keys with values'],
    [{ sandbox: 'off', bytes: 0 }, 'bytes: expected number to be >=1, received 0'],
    [{ sandbox: 'off', bytes: 12 }, 'bytes: expected number to be <=9, received 12'],
  ])('%j says what came', (value, complaint) => {
    expect(complaints(value)).toEqual([complaint]);
  });

  it('never repeats a text that might be a secret, nor all of a long one', () => {
    expect(complaints({ sandbox: 'off', token: 'sword' }).join('\n')).not.toContain('sword');
    expect(complaints({ sandbox: 'off', token: 'cat' }).join('\n')).not.toContain('cat');
    expect(complaints({ sandbox: 'x'.repeat(1_000) })[0]?.length).toBeLessThan(200);
  });

  it('says what was expected where nobody asked for what came', () => {
    expect(complaints({ sandbox: 'on' }, false)).toEqual(['sandbox: expected one of "required"|"off"']);
  });
});

import { describe, expect, it } from 'vitest';
import { createLimitedOutputCapture } from '../../../../src/machines/task/output-capture.ts';
import { RUN_CAPTURE_BYTES, longOutput } from '../../../../src/machines/turn/shell/long-output.ts';

/** What a process task says of this output. */
function resultOf(text: string): { readonly output: string; readonly metadata?: Record<string, unknown> } {
  const head = createLimitedOutputCapture(RUN_CAPTURE_BYTES);
  const tail = createLimitedOutputCapture(RUN_CAPTURE_BYTES, { keep: 'tail' });
  head.append(text);
  tail.append(text);
  return {
    output: head.toString(),
    ...(head.isTruncated ? { metadata: { outputBytes: head.totalBytes, outputTail: tail.toString() } } : {}),
  };
}

describe('the output of a command that has ended', () => {
  it('is shown as it is while it fits', () => {
    expect(longOutput(resultOf('a\n'))).toEqual({ shown: 'a\n' });
  });

  it.each([30_001, RUN_CAPTURE_BYTES, RUN_CAPTURE_BYTES + 1, 2 * RUN_CAPTURE_BYTES])(
    'of %d bytes is kept to the byte',
    (length) => {
      const text = Array.from({ length }, (_, index) => String.fromCharCode(33 + (index % 89))).join('');
      const { shown, long } = longOutput(resultOf(text));
      expect(long).toEqual({ totalBytes: length, kept: text });
      expect(shown.startsWith(text.slice(0, 10_000))).toBe(true);
      expect(shown.endsWith(text.slice(-20_000))).toBe(true);
      expect(shown).toContain(
        `\n[${length - 30_000} bytes left out here: bytes 10000 to ${length - 20_000} of the output]\n`,
      );
    },
  );

  it('of more than the task kept says what is missing', () => {
    const { long, shown } = longOutput(resultOf('x'.repeat(2 * RUN_CAPTURE_BYTES + 5)));
    expect(long?.totalBytes).toBe(2 * RUN_CAPTURE_BYTES + 5);
    expect(long?.kept).toContain('x\n[5 bytes of the output were not kept]\nx');
    expect(shown.length).toBeLessThan(31_000);
  });
});

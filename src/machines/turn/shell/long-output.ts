/** The output of a command whose beginning and end a task has kept, put together for a model and for a file. */
import { OUTPUT_TRUNCATION_MARKER } from '../../task/output-capture.ts';
import type { BackgroundTaskResult } from '../../task/task-state.ts';
import { KeptOutput } from './kept-output.ts';

/** Bytes that a task keeps of the beginning of its output, and as many of its end. */
export const RUN_CAPTURE_BYTES = 524_288;

export interface LongOutput {
  /** For a reply: all of it, or its beginning and end with a line between them that says what is missing. */
  readonly shown: string;
  /** Absent when `shown` has everything. */
  readonly long?: { readonly totalBytes: number; readonly kept: string } | undefined;
}

/**
 * @param result of a task whose `outputLimitBytes` was RUN_CAPTURE_BYTES @param redact takes out secrets, before
 * anything is cut off
 */
export function longOutput(
  { output, metadata }: Pick<BackgroundTaskResult, 'output' | 'metadata'>,
  redact: (text: string) => string = (text) => text,
): LongOutput {
  const { outputTail, outputBytes } = metadata ?? {};
  const isCut = typeof outputTail === 'string' && typeof outputBytes === 'number';
  const kept = redact(isCut ? joinEnds(output, outputTail, outputBytes) : output);
  const bytes = new TextEncoder().encode(kept);
  const whole = new KeptOutput({ headBytes: bytes.length, tailBytes: 0 });
  whole.append(bytes);
  const { text: shown, left } = whole.excerpt();
  if (left === undefined) return { shown };
  return { shown, long: { totalBytes: isCut ? outputBytes : bytes.length, kept } };
}

function joinEnds(output: string, outputTail: string, totalBytes: number): string {
  const encoder = new TextEncoder();
  const head = withoutMark(output, 'end');
  const tail = encoder.encode(withoutMark(outputTail, 'start'));
  const missingBytes = totalBytes - encoder.encode(head).length - tail.length;
  if (missingBytes > 0) return `${head}\n[${missingBytes} bytes of the output were not kept]\n${decode(tail)}`;
  // The two overlap: what is in both is told once.
  return head + decode(tail.subarray(-missingBytes));
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

function withoutMark(text: string, where: 'start' | 'end'): string {
  if (where === 'start')
    return text.startsWith(OUTPUT_TRUNCATION_MARKER) ? text.slice(OUTPUT_TRUNCATION_MARKER.length) : text;
  return text.endsWith(OUTPUT_TRUNCATION_MARKER) ? text.slice(0, -OUTPUT_TRUNCATION_MARKER.length) : text;
}

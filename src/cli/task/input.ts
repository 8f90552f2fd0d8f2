/** Hands what comes into this program to a running task, as it comes and as fast as the task reads it. */
import { fstatSync } from 'node:fs';
import { TextDecoder } from 'node:util';
import type { BackgroundTaskInput } from '../../machines/task/task-state.ts';
import { RuntimeError } from '../../machines/errors.ts';

const STDIN = 0;

/** Whether something is piped in: not a terminal, not a device such as /dev/null, not a closed input. */
export function hasPipedInput(): boolean {
  try {
    const input = fstatSync(STDIN);
    return input.isFIFO() || input.isFile() || input.isSocket();
  } catch {
    return false;
  }
}

/** Errors that mean: the task reads no more. The rest is not needed then. */
const NO_MORE: ReadonlySet<string> = new Set([
  ...[
    'TASK_INPUT_CLOSED',
    'TASK_INPUT_UNSUPPORTED',
    'TASK_ENDED',
    'TASK_STOPPING',
    'TASK_NOT_FOUND',
    'TASK_LOST',
    'TASK_END_UNKNOWN',
  ],
]);

interface TakesInput {
  send(taskId: string, input: BackgroundTaskInput): Promise<void>;
}

/**
 * Resolves when the input has ended, or with false when the task takes no more of it.
 * @throws RuntimeError INPUT_NOT_TEXT for bytes that are not UTF-8: the task would get others than were sent
 */
export async function passInput(tasks: TakesInput, taskId: string, input: NodeJS.ReadStream): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    for await (const chunk of input) {
      const text = decoded(decoder, chunk as Uint8Array);
      if (text !== '') await tasks.send(taskId, { stdin: text, end: false });
    }
    await tasks.send(taskId, { stdin: decoded(decoder), end: true });
    return true;
  } catch (error) {
    if (!RuntimeError.is(error) || !NO_MORE.has(error.code)) throw error;
    return false;
  } finally {
    input.destroy();
  }
}

function decoded(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch (cause) {
    throw new RuntimeError('INPUT_NOT_TEXT', 'expected UTF-8 text on standard input, received other bytes', {
      category: 'validation',
      hint: "Let the command read the file itself: wakechart task run -- 'COMMAND < FILE'.",
      cause,
    });
  }
}

/**
 * A stored inspection log as an inspector looks at it: from a file, which may still be written to, or from what is
 * piped in.
 */
import { basename } from 'node:path';
import { openLogSource } from '../../actors/inspection/log-source.ts';
import { messageOf } from '../../machines/errors.ts';
import { openLogFile } from '../../adapters/inspection-files/log-file.ts';
import { piecesOfStream } from '../../adapters/inspection-files/log-text.ts';
import type { CommandContext } from '../context.ts';
import { absolutePath } from '../home.ts';
import type { OpenedSource } from './opened-source.ts';
import { printable } from '../terminal/text.ts';

/**
 * Resolves when it is known to be such a log.
 * @param file undefined: what is piped in
 * @throws RuntimeError INSPECTION_FILE_MISSING, INSPECTION_FILE_UNREADABLE, INSPECTION_LOG_REFUSED
 */
export async function openedLog(
  { err }: CommandContext,
  file: string | undefined,
): Promise<Pick<OpenedSource, 'source' | 'close'>> {
  const onProblem = (error: unknown): void =>
    void err.push(`${err.styles.yellow('note:')} ${printable(messageOf(error))}\n`);
  const pieces = file === undefined ? piecesOfStream(process.stdin) : await openLogFile(absolutePath(file));
  const source = await openLogSource({
    title: file === undefined ? 'standard input' : basename(file),
    pieces,
    onProblem,
  });
  return {
    source,
    async close() {
      source.close();
      // What is piped in would keep us waiting for its end.
      if (file === undefined) process.stdin.destroy();
    },
  };
}

/** Raw lines of one source as they stand in a log file: each with its prefix, empty ones left out. */
import { prefixedLogLine } from '../../machines/task/log-pages.ts';

/**
 * Works on Latin-1 strings, in which each byte is one character: the string functions are native, several times faster
 * than a loop over bytes, and whatever the bytes meant they mean afterwards.
 */
export function formatLogLines({ source, bytes }: { readonly source: string; readonly bytes: Uint8Array }): Buffer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const hasOddLines = text.startsWith('\n') || text.includes('\n\n') || text.includes('\r');
  const formatted = hasOddLines
    ? formatOneByOne(source, text)
    : prefixedLogLine(source, text.slice(0, -1).replaceAll('\n', `\n${prefixedLogLine(source, '')}`));
  return Buffer.from(`${formatted}\n`, 'latin1');
}

function formatOneByOne(source: string, text: string): string {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  return lines
    .filter((line) => line !== '')
    .map((line) => prefixedLogLine(source, line))
    .join('\n');
}

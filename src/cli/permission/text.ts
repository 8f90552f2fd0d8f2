/**
 * What a person is asked to allow, told the same wherever it is asked, answered or checked: what would run, where,
 * why, how far a yes reaches, until when.
 */
import type { SessionEventData } from '../../machines/session/session-event.ts';
import { exactLine } from '../../machines/exact-text.ts';
import { markedLines, requestLines } from './request-text.ts';
import type { Styles } from '../terminal/styles.ts';
import { localTime, printable } from '../terminal/text.ts';
import { wrapped } from '../terminal/text-width.ts';

export interface RequestTextOptions {
  readonly styles: Styles;
  /** Places of a line. */
  readonly width: number;
  /** Lines of the input. Default: all of them. */
  readonly maxLines?: number | undefined;
  /** How to see what is left out, as the end of a sentence. */
  readonly wayToAll?: string | undefined;
}

export interface PermissionTextOptions extends RequestTextOptions {
  readonly agentId: string;
}

type Requested = SessionEventData<'permission.requested'>;

export function permissionLines(data: Requested, options: PermissionTextOptions): string[] {
  const { styles, width } = options;
  const { because, expiresAt } = data;
  return [
    ...callLines(data, options),
    ...wrapped(`because ${exactLine(because.trim().replaceAll(/\s+/gu, ' '))}`, width).map((line) => styles.dim(line)),
    ...reachLines(data, options),
    ...(expiresAt === undefined
      ? []
      : wrapped(`until ${localTime(expiresAt)}; then the call is denied`, width).map((line) => styles.dim(line))),
  ];
}

/** What would run, and where. */
export function callLines({ input, cwd }: Pick<Requested, 'input' | 'cwd'>, options: RequestTextOptions): string[] {
  return [
    ...inputLines(input, options),
    ...(cwd === undefined
      ? []
      : markedLines(`in ${exactLine(cwd)}`, options.width).map((line) => options.styles.dim(line))),
  ];
}

/** What an approval for more than once would allow. */
export function reachLines(
  { rules = [] }: Pick<Requested, 'rules'>,
  { styles, width, agentId }: PermissionTextOptions,
): string[] {
  const lead =
    rules.length === 0
      ? 'it can be allowed once only: no rule would cover this and nothing else'
      : `"session" (in this session) and "always" (in every session of ${printable(agentId)}) would allow from then on:`;
  return [
    ...wrapped(lead, width).map((line) => styles.dim(line)),
    ...rules.flatMap((rule) => markedLines(exactLine(rule), width, '  ')),
  ];
}

/** What a client is to do, in full. */
export function inputLines(
  input: unknown,
  { styles, width, maxLines = Infinity, wayToAll }: RequestTextOptions,
): string[] {
  const { first, omitted, last, oddity } = requestLines(input, { width, maxLines });
  const cut = `… ${omitted} more lines, not shown${wayToAll === undefined ? '' : `; ${wayToAll}`} …`;
  return [
    ...first.map((line) => styles.bold(line)),
    ...(omitted === 0 ? [] : [styles.yellow(cut)]),
    ...last.map((line) => styles.bold(line)),
    ...(oddity === undefined ? [] : wrapped(oddity, width).map((line) => styles.yellow(line))),
  ];
}

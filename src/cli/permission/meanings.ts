/** What each answer to a request for permission means, told the same wherever it is asked. */
import type { SessionEventData } from '../../machines/session/session-event.ts';
import { exactLine } from '../../machines/exact-text.ts';
import { printable } from '../terminal/text.ts';
import { wrapped } from '../terminal/text-width.ts';

export type PermissionAnswer = 'once' | 'session' | 'always' | 'deny' | 'later';

export interface MeaningsOptions {
  readonly data: Pick<SessionEventData<'permission.requested'>, 'rules'>;
  readonly agentId: string;
  /** What is typed for each, in the order in which they are told. */
  readonly keys: readonly (readonly [key: string, answer: PermissionAnswer])[];
  /** Places of a line. */
  readonly width: number;
}

export function meaningLines({ data: { rules = [] }, agentId, keys, width }: MeaningsOptions): string[] {
  const covered = rules.map((rule) => exactLine(rule)).join(', ');
  const agent = printable(agentId);
  const meanings = {
    once: 'it runs this once; the next time it is asked again',
    session: `it runs, and in this session from then on whatever these cover: ${covered}`,
    always: `the same in every session of ${agent}, until \`permission revoke\` takes it back: ${covered}`,
    deny: 'it does not run; you may say why, and the agent reads that',
    later: 'nothing is answered; the session waits, and keeps what it is asked on disk',
  } as const satisfies Record<PermissionAnswer, string>;
  const keyWidth = Math.max(...keys.map(([key]) => key.length)) + 2;
  return keys
    .filter(([, answer]) => rules.length > 0 || (answer !== 'session' && answer !== 'always'))
    .flatMap(([key, answer]) =>
      wrapped(meanings[answer], Math.max(10, width - keyWidth)).map(
        (line, index) => `${(index === 0 ? key : '').padEnd(keyWidth)}${line}`,
      ),
    );
}

/** The same for a question in words. @param choices how many answers it offers */
export function questionMeanings(choices: number, width: number): string[] {
  return [
    ...(choices === 0 ? [] : [`1 to ${choices}: the choice with that number`]),
    'any text: your answer in your own words',
    'later: nothing is answered; the session waits, and keeps the question on disk',
  ].flatMap((line) => wrapped(line, width));
}

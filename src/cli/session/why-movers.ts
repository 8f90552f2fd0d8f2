/** What can move a session on, as lines: who, by which event, and the command to type. */
import { isWaker } from '../../machines/session/why-movers.ts';
import type { Mover } from '../../machines/session/why-movers.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { localTime, printable, shellQuoted } from '../terminal/text.ts';

const WHO = {
  person: 'a person',
  worker: 'a worker',
  child: 'the child',
  time: 'by itself:',
  runtime: 'the runtime',
} as const satisfies Record<Mover['who'], string>;

/**
 * Of a session that is bound to another machine: those who would wake it are there, and what can be done here is to let
 * it go.
 */
export function moversElsewhere(
  movers: readonly Mover[],
  { sessionId, host }: { readonly sessionId: string; readonly host: string },
): readonly Mover[] {
  if (!movers.some(isWaker)) return movers;
  const there = movers.map((mover): Mover =>
    isWaker(mover)
      ? { who: mover.who, events: mover.events, does: `${mover.does}, on ${host} and on no other machine` }
      : mover,
  );
  return [
    ...there,
    {
      who: 'person',
      events: [],
      does: `releases it, where ${host} is gone for good`,
      command: ['session', 'release', '--session', sessionId],
    },
  ];
}

export function moverLines(
  context: CommandContext,
  { who, does, events, command, program }: Mover,
  indent: string,
): string[] {
  const { styles } = context.out;
  const when = does.replace(/ at (\d{4}-\d\d-\d\dT[\d:.]+Z)$/, (_, at: string) => ` at ${localTime(at)}`);
  const line = `${indent}→ ${WHO[who]} ${when}${events.length === 0 ? '' : ` ${styles.dim(`(${events.join(', ')})`)}`}`;
  if (program !== undefined) return [line, `${indent}    ${printable(shellQuoted(program))}`];
  return command === undefined ? [line] : [line, `${indent}    ${nextCommand(context, ...command)}`];
}

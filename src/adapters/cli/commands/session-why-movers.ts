/** Whoever can move a session on, as lines: who, by which event, and the command to type. */
import type { Mover } from '../../../machines/session/why-movers.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { localTime } from '../text.ts';

const WHO = { person: 'somebody', worker: 'a worker', child: 'the child', time: 'by itself:', runtime: 'the runtime' } as const satisfies Record<Mover['who'], string>;

export function moverLines(context: CommandContext, { who, does, events, command }: Mover, indent: string): string[] {
  const { styles } = context.out;
  const when = does.replace(/ at (\d{4}-\d\d-\d\dT[\d:.]+Z)$/, (_, at: string) => ` at ${localTime(at)}`);
  const line = `${indent}→ ${WHO[who]} ${when}${events.length === 0 ? '' : ` ${styles.dim(`(${events.join(', ')})`)}`}`;
  return command === undefined ? [line] : [line, `${indent}    ${nextCommand(context, ...command)}`];
}

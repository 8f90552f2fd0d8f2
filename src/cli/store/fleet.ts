/** `wakechart fleet`: what the workers over a database do between them, at this moment. */
import { shownFleet } from '../../actors/inspection/fleet-words.ts';
import type { FleetCell, ShownFleetPart } from '../../actors/inspection/fleet-words.ts';
import type { CommandContext } from '../context.ts';
import { nextCommand } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { withStore } from '../open/store.ts';
import type { Output } from '../terminal/output.ts';
import { tableLines } from '../terminal/table.ts';
import { durationText, printable } from '../terminal/text.ts';
import { usageError } from '../usage.ts';

export async function showFleet(context: CommandContext): Promise<number> {
  const { out, json } = context;
  const sight = await withStore(context, async ({ fleet }) => fleet?.check());
  if (sight === undefined)
    throw usageError(
      'expected a database: a store in a home does not count its workers',
      `Name it with --store URL or $WAKECHART_STORE. What runs for a home, this shows: ${nextCommand(context, 'inspect')}`,
    );
  if (json) await out.document(sight);
  else {
    const { at, parts } = shownFleet(sight);
    for (const [index, part] of parts.entries())
      await out.line(`${index === 0 ? '' : '\n'}${partLines(part, Date.parse(at), out).join('\n')}`);
  }
  return EXIT_SUCCESS;
}

function partLines(
  { title, count, columns, rows, note }: ShownFleetPart,
  atMs: number,
  out: Output,
): readonly string[] {
  const table =
    rows.length === 0
      ? []
      : tableLines(
          columns,
          rows.map((cells) => cells.map((cell) => cellText(cell, atMs))),
          out,
        );
  return [`${out.styles.bold(title)} ${count}`, ...table, ...(note === undefined ? [] : [out.styles.dim(note)])];
}

/** A session is told by its whole id here: other commands take it. */
function cellText({ text = '', since, session }: FleetCell, atMs: number): string {
  return since === undefined ? printable(session ?? text) : durationText(atMs - Date.parse(since));
}

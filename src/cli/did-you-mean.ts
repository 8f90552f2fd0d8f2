/** What was probably meant, where the parser of the command line does not say it by itself. */
import type { Command } from 'commander';
import { closestName } from '../machines/closest-name.ts';

/** More commands than these do not help. */
const MAX_COMMANDS = 5;

/** The complaint with what was probably meant under it. @param words all that was typed */
export function withSuggestion(complaint: string, command: Command, words: readonly string[]): string {
  const nouns = meantCommands(complaint, command);
  // The parser knows nothing but the commands beside it.
  if (nouns !== undefined) return `${complaint.split('\n')[0] ?? ''}\n(Did you mean ${nouns}?)\n`;
  if (complaint.includes('Did you mean')) return complaint;
  // An option that is missing is often one that was mistyped.
  const missing = complaint.startsWith("error: required option '") ? unknownOption(command, words) : undefined;
  if (missing !== undefined) return `error: unknown option '${missing.typed}'\n(Did you mean ${missing.meant}?)\n`;
  const meant = meantChoice(complaint);
  return meant === undefined ? complaint : `${complaint.trimEnd()}\n(Did you mean ${meant}?)\n`;
}

function unknownOption(
  command: Command,
  words: readonly string[],
): { readonly typed: string; readonly meant: string } | undefined {
  const known = optionsOf(command);
  const end = words.indexOf('--');
  for (const word of end < 0 ? words : words.slice(0, end)) {
    const typed = /^--[^=]+/.exec(word)?.[0];
    if (typed === undefined || known.includes(typed)) continue;
    const meant = closestName(
      typed.slice(2),
      known.map((name) => name.slice(2)),
    );
    if (meant !== undefined) return { typed, meant: `--${meant}` };
  }
  return undefined;
}

function optionsOf(command: Command | null): string[] {
  if (command === null) return ['--help'];
  return [...command.options.flatMap(({ long }) => long ?? []), ...optionsOf(command.parent)];
}

function meantChoice(complaint: string): string | undefined {
  const found = /argument '(?<given>[^']*)' is invalid\. Allowed choices are (?<choices>.*)\.\s*$/.exec(
    complaint,
  )?.groups;
  return found === undefined ? undefined : closestName(found['given'] ?? '', (found['choices'] ?? '').split(', '));
}

/** A verb without its noun: `list` for `session list`. */
function meantCommands(complaint: string, program: Command): string | undefined {
  const given = /^error: unknown command '(?<given>[^']+)'/.exec(complaint)?.groups?.['given'];
  const meant = program.commands.filter(({ commands }) => commands.some((each) => each.name() === given));
  if (given === undefined || meant.length === 0) return undefined;
  const named = meant.slice(0, MAX_COMMANDS).map((noun) => `${noun.name()} ${given}`);
  return `${named.join(', ')}${meant.length > MAX_COMMANDS ? ', …' : ''}`;
}

/**
 * Reads a command line by its syntax tree, and believes only what it knows: simple commands of literal words, joined by `;`, a new line,
 * `&&`, `||` or `|`. Everything else is not understood.
 *
 * The tree says where the words are. What they mean is read again from the text itself, and what stands between them must be exactly one
 * known separator, so that nothing the tree leaves out (comments, escaped line ends, a stray `&`) goes unseen.
 */
import { parse } from 'unbash';
import type { Command, PipelineNode, Redirection, Statement } from 'unbash';
import type { ReadShell } from '../../actors/permission/shell-reader.ts';
import { MAX_READ_CHARACTERS, MAX_READ_COMMANDS } from '../../machines/permission/shell-reading.ts';
import type { ShellCommand } from '../../machines/permission/shell-reading.ts';
import { readLiteralWord, readsAsCommandName } from './literal-word.ts';
import { NotUnderstood } from './not-understood.ts';

/** What lies around and between simple commands. */
const BEFORE = /^[ \t\n]*$/;
const BETWEEN = /^[ \t]*(?:(?:;|\n)[ \t\n]*|(?:&&|\|\|?)[ \t\n]*)$/;
const AFTER = /^[ \t]*;?[ \t\n]*$/;
const BETWEEN_WORDS = /^[ \t]+$/;

/** Redirections that neither write nor read a file: to and from nowhere, and of one stream into the other. */
const HARMLESS_REDIRECTION = /^(?:[12]?>[ \t]*\/dev\/null|<[ \t]*\/dev\/null|2>&1|1?>&2)$/;

export const readShell: ReadShell = (command) => {
  try {
    return { kind: 'commands', commands: readLine(command) };
  } catch (thrown) {
    // The parser must not fail on any text. If it does, nothing was understood.
    const because = thrown instanceof NotUnderstood ? thrown.because : 'the shell parser failed on it';
    return { kind: 'not_understood', because };
  }
};

function readLine(source: string): ShellCommand[] {
  if (source.length > MAX_READ_CHARACTERS) throw new NotUnderstood(`it is longer than ${MAX_READ_CHARACTERS} characters`);
  assertPlainCharacters(source);
  const script = parse(source);
  const [error] = script.errors ?? [];
  if (error !== undefined) throw new NotUnderstood(`it is not complete shell syntax: ${error.message}`);
  if (script.shebang !== undefined) throw new NotUnderstood('it has a comment');
  const commands = script.commands.flatMap(simpleCommandsOf);
  if (commands.length === 0) throw new NotUnderstood('there is nothing to run');
  if (commands.length > MAX_READ_COMMANDS) throw new NotUnderstood(`it has more than ${MAX_READ_COMMANDS} commands`);
  assertKnownSeparators(source, commands);
  return commands.map((command) => readCommand(source, command));
}

/** Tabs and line ends are the only control characters; nothing is invisible, reorders text or looks like a blank without being one. */
function assertPlainCharacters(source: string): void {
  const odd = /(?![ \t\n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u.exec(source)?.[0];
  if (odd === undefined) return;
  const code = (odd.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  throw new NotUnderstood(`it has an invisible or control character (U+${code})`);
}

function simpleCommandsOf({ command, background }: Statement): Command[] {
  if (background === true) throw new NotUnderstood('it runs something in the background (&)');
  if (command.type !== 'AndOr') return commandsOfPipeline(command);
  return command.commands.flatMap(commandsOfPipeline);
}

function commandsOfPipeline(node: PipelineNode): Command[] {
  if (node.type === 'Command') return [node];
  if (node.type !== 'Pipeline') throw new NotUnderstood(`it uses more of the shell than plain commands (${node.type})`);
  if (node.prefixes.length > 0) throw new NotUnderstood('it uses ! or time');
  if (node.operators.some((operator) => operator !== '|')) throw new NotUnderstood('it uses |&');
  return node.commands.flatMap((inner) => {
    if (inner.type !== 'Command') throw new NotUnderstood(`it uses more of the shell than plain commands (${inner.type})`);
    return [inner];
  });
}

function assertKnownSeparators(source: string, commands: readonly Command[]): void {
  let from = 0;
  for (const [index, { pos, end }] of commands.entries()) {
    assertGap(source.slice(from, pos), index === 0 ? BEFORE : BETWEEN);
    from = end;
  }
  assertGap(source.slice(from), AFTER);
}

function assertGap(gap: string, known: RegExp): void {
  if (known.test(gap)) return;
  throw new NotUnderstood(gap.includes('#') ? 'it has a comment' : `it joins commands in a way that is not known ("${gap.trim()}")`);
}

function readCommand(source: string, { name, prefix, suffix, pos, end }: Command): ShellCommand {
  if (prefix.length > 0) throw new NotUnderstood('it begins with an assignment or a redirection');
  if (name === undefined || name.pos !== pos) throw new NotUnderstood('it has a command without a name');
  const argv = [readsAsCommandName(source.slice(name.pos, name.end))];
  let from = name.end;
  for (const part of suffix) {
    assertGap(source.slice(from, part.pos), BETWEEN_WORDS);
    if (part.type === 'Assignment') throw new NotUnderstood('it assigns a variable');
    if (part.type === 'Word') argv.push(assertSame(readLiteralWord(source.slice(part.pos, part.end)), part.value));
    else assertHarmless(source, part);
    from = part.end;
  }
  if (from !== end) throw new NotUnderstood('it has a command whose end is not clear');
  return { argv };
}

/** Two readings of one word that differ are none. */
function assertSame(own: string, ofTheTree: string): string {
  if (own === ofTheTree) return own;
  throw new NotUnderstood('it has a word that can be read in two ways');
}

function assertHarmless(source: string, redirection: Redirection): void {
  if (redirection.type === 'HereDoc') throw new NotUnderstood('it has a here-document');
  if (!HARMLESS_REDIRECTION.test(source.slice(redirection.pos, redirection.end))) throw new NotUnderstood('it redirects input or output');
}

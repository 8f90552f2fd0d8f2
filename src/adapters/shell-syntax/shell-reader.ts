/**
 * Reads a command line by its syntax tree, and believes only what it knows: simple commands of plain words, joined by
 * `;`, a new line, `&&`, `||` or `|`, alone or in groups. Everything else is not understood.
 *
 * The tree says where the words are. What they mean is read again from the text itself, and what stands between them
 * must be made of known signs in a known order, so that nothing the tree leaves out (comments, escaped line ends, a
 * stray `&`) goes unseen.
 */
import { parse } from 'unbash';
import type { Command, PipelineNode, Redirection, Statement } from 'unbash';
import type { ReadShell } from '../../actors/permission/permission-ports.ts';
import { isHarmlessVariable, wrappedCommandAt } from '../../machines/permission/command-wrapping.ts';
import { MAX_READ_CHARACTERS, MAX_READ_COMMANDS } from '../../machines/permission/shell-reading.ts';
import type { OpenWord, ShellCommand } from '../../machines/permission/shell-reading.ts';
import { EnteredFolders } from './entered-folders.ts';
import { NotUnderstood, readsAsCommandName, readWord } from './literal-word.ts';
import type { ReadWord } from './literal-word.ts';
import { HARMLESS_REDIRECTION, readGap } from './shell-gaps.ts';

/** Between words a line may be broken, but a word may not. */
const BETWEEN_WORDS = /^(?:\\\n)*[ \t](?:[ \t]|\\\n)*$/;

const INPUT = /^<[ \t]*(?<file>[^<>&].*)$/s;

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
  if (source.length > MAX_READ_CHARACTERS)
    throw new NotUnderstood(`it is longer than ${MAX_READ_CHARACTERS} characters`);
  assertPlainCharacters(source);
  const script = parse(source);
  const [error] = script.errors ?? [];
  if (error !== undefined) throw new NotUnderstood(`it is not complete shell syntax: ${error.message}`);
  if (script.shebang !== undefined) throw new NotUnderstood('it has a comment that may be none');
  const commands = script.commands.flatMap(simpleCommandsOf);
  if (commands.length === 0) throw new NotUnderstood('there is nothing to run');
  if (commands.length > MAX_READ_COMMANDS) throw new NotUnderstood(`it has more than ${MAX_READ_COMMANDS} commands`);
  return readInFolders(source, commands);
}

/**
 * Tabs and line ends are the only control characters; nothing is invisible, reorders text or looks like a blank without
 * being one.
 */
function assertPlainCharacters(source: string): void {
  const odd = /(?![ \t\n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u.exec(source)?.[0];
  if (odd === undefined) return;
  const code = (odd.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  throw new NotUnderstood(`it has an invisible or control character (U+${code})`);
}

function simpleCommandsOf({ command, background }: Statement): Command[] {
  if (background === true) throw new NotUnderstood('it runs something in the background (&)');
  return commandsOf(command);
}

/** What groups, times and redirects them stands in the gaps, and is read there. */
function commandsOf(node: PipelineNode | Statement['command']): Command[] {
  switch (node.type) {
    case 'Command':
      return [node];
    case 'AndOr':
      return node.commands.flatMap(commandsOf);
    case 'Pipeline':
      if (node.operators.some((operator) => operator !== '|')) throw new NotUnderstood('it uses |&');
      return node.commands.flatMap(commandsOf);
    case 'Subshell':
    case 'BraceGroup':
      return node.body.commands.flatMap(simpleCommandsOf);
    case 'Redirected':
      return commandsOf(node.command);
    case 'ArithmeticCommand':
    case 'ArithmeticFor':
    case 'Case':
    case 'Coproc':
    case 'For':
    case 'Function':
    case 'If':
    case 'Select':
    case 'TestCommand':
    case 'While':
      throw new NotUnderstood(`it uses more of the shell than plain commands (${node.type})`);
  }
}

function readInFolders(source: string, commands: readonly Command[]): ShellCommand[] {
  const folders = new EnteredFolders();
  const read: ShellCommand[] = [];
  let from = 0;
  for (const [index, command] of commands.entries()) {
    folders.pass(readGap(source.slice(from, command.pos), index === 0 ? 'before' : 'between'));
    from = command.end;
    const words = readCommand(source, command);
    const isHere = folders.now.size === 1 && folders.now.has('');
    const placed: ShellCommand = { ...words, ...(isHere ? {} : { folders: [...folders.now] }) };
    read.push(entersFolder(folders, source, command, placed) ? { ...placed, entersFolder: true } : placed);
  }
  folders.pass(readGap(source.slice(from), 'after'));
  return read;
}

/** What a wrapper runs is a program: the shell's own `cd` is none. */
function entersFolder(
  folders: EnteredFolders,
  source: string,
  { name, prefix }: Command,
  { argv, open, input }: ShellCommand,
): boolean {
  if (name === undefined || source.slice(name.pos, name.end) !== 'cd') {
    folders.stay();
    return false;
  }
  const isPlain = prefix.length === 0 && open === undefined && input === undefined;
  return folders.enter(isPlain ? argv.slice(1) : []);
}

function readCommand(source: string, { name, prefix, suffix, pos, end }: Command): ShellCommand {
  const [first = name] = prefix;
  if (name === undefined || first?.pos !== pos) throw new NotUnderstood('it has a command without a name');
  let from = pos;
  for (const part of prefix) {
    if (part.pos !== from) assertBetweenWords(source.slice(from, part.pos));
    assertHarmlessVariable(source, part);
    from = part.end;
  }
  if (prefix.length > 0) assertBetweenWords(source.slice(from, name.pos));
  const words: ReadWord[] = [{ value: readsAsCommandName(source.slice(name.pos, name.end)) }];
  let input: string | undefined;
  from = name.end;
  for (const part of suffix) {
    assertBetweenWords(source.slice(from, part.pos));
    const text = source.slice(part.pos, part.end);
    if (part.type === 'Assignment') throw new NotUnderstood('it assigns a variable');
    if (part.type === 'Word') words.push(assertSame(readWord(text), part.value));
    else input = inputOf(part, text, input);
    from = part.end;
  }
  if (from !== end) throw new NotUnderstood('it has a command whose end is not clear');
  return commandIn(words, input);
}

/** The command that runs after all, without what only bounds it. */
function commandIn(words: readonly ReadWord[], input: string | undefined): ShellCommand {
  const at = wrappedCommandAt(words.map(({ value }) => value));
  const isPlain = words.slice(0, at + 1).every(({ open }) => open === undefined);
  const inner = isPlain ? words.slice(at) : words;
  const open: Record<number, OpenWord> = {};
  for (const [index, word] of inner.entries()) if (word.open !== undefined) open[index] = word.open;
  return {
    argv: inner.map(({ value }) => value),
    ...(Object.keys(open).length === 0 ? {} : { open }),
    ...(input === undefined ? {} : { input }),
  };
}

function assertBetweenWords(gap: string): void {
  if (!BETWEEN_WORDS.test(gap)) throw new NotUnderstood(`it joins words in a way that is not known ("${gap.trim()}")`);
}

function assertHarmlessVariable(source: string, { pos, end }: Command['prefix'][number]): void {
  const text = source.slice(pos, end);
  if (!isHarmlessVariable(text))
    throw new NotUnderstood('it begins with a redirection, or with an assignment that may change what runs');
}

/** Two readings of one word that differ are none. */
function assertSame(own: ReadWord, ofTheTree: string): ReadWord {
  if (own.isDocument === true || own.value === ofTheTree) return own;
  throw new NotUnderstood('it has a word that can be read in two ways');
}

/** The file that is its input, if that is what the redirection says. */
function inputOf(redirection: Redirection, text: string, before: string | undefined): string | undefined {
  if (redirection.type === 'HereDoc') throw new NotUnderstood('it has a here-document');
  if (HARMLESS_REDIRECTION.test(text)) return before;
  const { file } = INPUT.exec(text)?.groups ?? {};
  const word = file === undefined ? undefined : readWord(file);
  if (word === undefined || word.open !== undefined || word.isDocument === true || before !== undefined)
    throw new NotUnderstood('it redirects input or output');
  return word.value;
}

/**
 * What a tool of an agent is called, what it is given, and what it comes to in terms of our own tools, so that the same
 * rules judge it.
 */
import type { RunToolMeaning } from '../../actors/run/agent-runtime.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { isPlainPath, mayFindOutside } from '../../machines/permission/plain-path.ts';
import { hasSecretName } from '../../machines/permission/sensitive-path.ts';
import type { ToolCallNews } from './session-updates.ts';

// Whether what a tool of an agent is given says more about places than the one path that it seems to be about.

/** Hold what is written or searched for, or say how much of it. */
const CONTENT_FIELD =
  /^(?:command|content|contents|text|(?:new|old)_?(?:string|str|text|content)|file_?text|insert_?(?:text|line)|line|lines|limit|offset|start_?line|end_?line|view_?range|description|explanation|instructions?|edits|replace_?all)$/i;

/** May name other files, whatever is in them. */
const PLACE_FIELD =
  /path|file|uri|url|dir(?:$|ectory)|folder|source|target|^src$|^dst$|dest|^to$|^from$|cwd|root|location|patch|diff|rename|name$/i;

const MAX_DEPTH = 20;

/** For a file that is read or changed. @param path the one that it seems to be about */
function namesOtherPlaces(rawInput: unknown, path: string): boolean {
  return someField(
    rawInput,
    (field, value) =>
      value !== path &&
      !CONTENT_FIELD.test(field) &&
      !isPatchOf(value, path) &&
      (PLACE_FIELD.test(field) || /[/\\]/.test(value) || !isPlainPath(value)),
  );
}

/** Whether all that a patch names as files is this one; a line of it that reads like a name counts as one. */
function isPatchOf(text: string, path: string): boolean {
  const names = [...text.matchAll(/^(?:Index: |--- |\+\+\+ |diff |rename |copy )(?<name>.*)$/gm)];
  return names.length > 0 && /^@@ /m.test(text) && names.every(({ groups }) => groups?.['name']?.trim() === path);
}

/** For a search: whatever it is given besides its folder may be a pattern of paths. */
function searchesElsewhere(rawInput: unknown, folder: string | undefined): boolean {
  return someField(rawInput, (_field, value) => value !== folder && (mayFindOutside(value) || hasSecretName(value)));
}

/**
 * All places that the input of a tool may name, for a tool of which it is not known to what it does something. @param
 * isTold whether places were told besides
 */
function furtherPlaces(rawInput: unknown, { isTold }: { readonly isTold: boolean }): readonly string[] {
  const places: string[] = [];
  someField(rawInput, (field, value) => {
    const isPlace =
      !CONTENT_FIELD.test(field) && (PLACE_FIELD.test(field) || /[/\\]/.test(value) || !isPlainPath(value));
    // A patch is no path; where the agent has told the files of it, those are judged.
    if (isPlace && !(isTold && value.includes('\n'))) places.push(value);
    return false;
  });
  return places;
}

/**
 * Whether some text in it is so; what is nested too deeply is not searched. Words that stand by themselves have no
 * field.
 */
function someField(given: unknown, isSo: (field: string, value: string) => boolean, field = '', depth = 0): boolean {
  if (typeof given === 'string') return given !== '' && isSo(field, given);
  if (typeof given !== 'object' || given === null) return false;
  if (depth >= MAX_DEPTH) return true;
  // What stands in a list belongs to the field that holds the list.
  return Object.entries(given).some(([name, value]) =>
    someField(value, isSo, Array.isArray(given) ? field : name, depth + 1),
  );
}

const MAX_NAME_CHARACTERS = 200;

/** What is known of a call by now. */
export type ToolCallFacts = Pick<ToolCallNews, 'title' | 'name' | 'kind' | 'content' | 'locations' | 'rawInput'>;

/**
 * The tool's own name where the agent tells it; else the kind of tool, and where that says nothing what it shows to
 * people.
 */
export function toolName({ name, kind, title }: ToolCallFacts): string {
  const kindOrNone = kind === 'other' ? undefined : kind;
  return beginningOf([name, kindOrNone, title, kind].find(isText) ?? 'tool', MAX_NAME_CHARACTERS);
}

/** As the tool gets it; where the agent does not tell that, what it shows to people. */
export function toolInput({ rawInput, title, locations, content }: ToolCallFacts): unknown {
  if (hasInput(rawInput)) return rawInput;
  const paths = (locations ?? []).map(({ path }) => path);
  const changes = changesIn(content);
  return {
    ...(isText(title) ? { title } : {}),
    ...(paths.length === 0 ? {} : { paths }),
    ...(changes.length === 0 ? {} : { changes }),
  };
}

/** A file as it was, and as it will be. */
export interface ToolChange {
  readonly path: string;
  readonly oldText?: string;
  readonly newText: string;
}

export function changesIn(content: ToolCallFacts['content']): readonly ToolChange[] {
  return (content ?? []).flatMap(({ type, path, oldText, newText }) =>
    type === 'diff' && isText(path) && typeof newText === 'string'
      ? [{ path, ...(typeof oldText === 'string' ? { oldText } : {}), newText }]
      : [],
  );
}

/** Agents tell of a call first, and of its input later: an empty object stands for none. */
export function hasInput(rawInput: unknown): boolean {
  if (rawInput === undefined || rawInput === null) return false;
  return typeof rawInput !== 'object' || Object.keys(rawInput).length > 0;
}

/** Where it works is not yet what it does: OpenCode tells the folder of a command before the command. */
export function saysWhat(rawInput: unknown): boolean {
  if (typeof rawInput !== 'object' || rawInput === null) return hasInput(rawInput);
  return Object.keys(rawInput).some((name) => !FOLDER_FIELDS.includes(name));
}

/**
 * `unclear` for a tool of a kind that we have, where to what it does something cannot be told for sure. Undefined for
 * all other kinds: then only a rule for the tool itself can allow it.
 */
export function toolMeaning(facts: ToolCallFacts): RunToolMeaning | undefined {
  const input = fieldsOf(facts.rawInput);
  // Some tell of `cat` as reading and of `sed -i` as editing: the command says more than the kind.
  if (facts.kind === 'execute' || isCommandLine(input))
    return commandMeaning(input) ?? { kind: 'unclear', as: 'command', paths: [] };
  const paths = pathsOf(facts, input);
  const [path] = paths;
  const isOne = path !== undefined && paths.length === 1 && !namesOtherPlaces(facts.rawInput, path);
  const unclear = (as: 'read' | 'write'): RunToolMeaning => ({
    kind: 'unclear',
    as,
    paths: [...new Set([...paths, ...furtherPlaces(facts.rawInput, { isTold: paths.length > 0 })])],
  });
  switch (facts.kind) {
    case 'edit':
      return isOne ? { kind: 'write', path } : unclear('write');
    case 'read':
      return isOne ? { kind: 'read', path } : unclear('read');
    case 'search':
      return paths.length > 1 || searchesElsewhere(facts.rawInput, path)
        ? unclear('read')
        : { kind: 'read', path: path ?? '.', reachesBelow: true };
    // What is moved goes somewhere, and what is deleted may be a folder with all that is in it.
    case 'delete':
    case 'move':
      return unclear('write');
    // `think`, `fetch`, `switch_mode`, `other`, and whatever comes later: none of our tools does the same.
    case undefined:
    case null:
    default:
      return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(rawInput: unknown): Fields {
  return typeof rawInput === 'object' && rawInput !== null && !Array.isArray(rawInput) ? (rawInput as Fields) : {};
}

const PATH_FIELDS = [
  'path',
  'file_path',
  'filePath',
  'filepath',
  'abs_path',
  'absolute_path',
  'notebook_path',
  'dir_path',
];

/** All that are named, each once. */
function pathsOf({ locations, content }: ToolCallFacts, input: Fields): readonly string[] {
  const told = (locations ?? []).map(({ path }) => path);
  const given = PATH_FIELDS.map((name) => input[name]);
  const changed = (content ?? []).map((each) => (each.type === 'diff' ? each['path'] : undefined));
  return [...new Set([...told, ...given, ...changed].filter(isText))];
}

const FOLDER_FIELDS = ['cwd', 'workdir', 'directory'];

function commandMeaning(input: Fields): RunToolMeaning | undefined {
  const command = commandOf(input);
  const cwd = FOLDER_FIELDS.map((name) => input[name]).find(isText);
  if (command === undefined || CHANGING_FIELDS.some((name) => hasInput(input[name]))) return undefined;
  // Where the folder is not told, it may be the one to which an earlier command went.
  return { kind: 'command', command, ...(cwd === undefined ? { keepsShell: true } : { cwd }) };
}

/** What a command does depends on them. */
const CHANGING_FIELDS = ['env', 'environment', 'stdin', 'input', 'script'];

/** Not one word: tools for editing have a `command` too, such as `view`. */
function isCommandLine({ command, cmd }: Fields): boolean {
  return [command, cmd].some((given) => Array.isArray(given) || (isText(given) && /\s/.test(given.trim())));
}

const SHELL = /^(?:.*\/)?(?:ba|z|da)?sh$/;

function commandOf({ command, cmd, args }: Fields): string | undefined {
  const given = isText(command) || Array.isArray(command) ? command : cmd;
  const words = Array.isArray(args) && isText(given) ? [given, ...(args as unknown[])] : given;
  if (isText(words)) return words;
  if (!Array.isArray(words) || words.length === 0 || !words.every((word): word is string => typeof word === 'string'))
    return undefined;
  const [shell = '', flag = '', script] = words;
  return words.length === 3 && SHELL.test(shell) && /^-l?c$/.test(flag) && isText(script) ? script : commandLine(words);
}

/** Words as one line that a shell reads as these words. */
export function commandLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

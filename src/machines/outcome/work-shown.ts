/**
 * What a record of work shows about an outcome: which commands ended how after the last change, what was changed, and
 * what is unknown.
 */
import { cutText } from '../cut-text.ts';
import { safetyOf } from '../permission/safe-commands.ts';
import { isSpelledOut } from '../permission/shell-reading.ts';
import type { ReadCommand } from './outcome-criterion.ts';
import { plainArgvOf } from './outcome-criterion.ts';
import type { TestCommand } from './test-command.ts';
import { testCommandOf } from './test-command.ts';
import type { CallEnding, RecordedCall, WorkRecord } from './work-record.ts';

/**
 * Files that decide what a test run does, besides the code that it is about: tests, their data, and what says how they
 * are run.
 */

const TEST_FOLDERS =
  /(?:^|[._-])(?:tests?|testing|specs?|__tests__|__mocks__|__snapshots__|e2e|fixtures?|mocks?|stubs?|snapshots?|cypress|playwright)(?:[._-]|$)/i;

const MANIFESTS =
  /^(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|pnpm-.*|yarn\.lock|bun\.lockb?|bunfig\.toml|deno\.jsonc?|tsconfig.*\.json|(?:gnu)?makefile|.*\.mk|justfile|pyproject\.toml|setup\.(?:cfg|py)|tox\.ini|pytest\.ini|conftest\.py|sitecustomize\.py|usercustomize\.py|.*\.pth|noxfile\.py|requirements.*\.txt|cargo\.(?:toml|lock)|build\.rs|go\.(?:mod|sum|work)|pom\.xml|build\.gradle.*|settings\.gradle.*|gradle\.properties|.*\.(?:cs|fs|vb)proj|.*\.sln|.*\.props|.*\.targets|mix\.exs|rakefile|gemfile(?:\.lock)?|composer\.(?:json|lock)|phpunit.*\.xml.*|cmakelists\.txt|.*\.cmake|package\.swift|jest.*|vitest.*|mocha.*|karma.*|babel.*|.*\.config\.[a-z]+|.*setup\.[a-z]+)$/i;

const TOOL_FOLDERS: ReadonlySet<string> = new Set(['node_modules', 'vendor', 'venv', 'site-packages', 'bin']);

/** @param path from the workspace, with slashes */
export function isTestMaterial(path: string): boolean {
  const parts = path.split(/[\\/]/).filter((part) => part !== '' && part !== '.');
  const name = parts.at(-1) ?? '';
  // What begins with a dot is settings, and settings decide what programs do.
  return (
    MANIFESTS.test(name) ||
    parts.some(
      (part) =>
        part.startsWith('.') ||
        TOOL_FOLDERS.has(part.toLowerCase()) ||
        TEST_FOLDERS.test(part) ||
        /(?:Test|Tests|Spec)\.[a-z]+$/.test(part),
    )
  );
}

/**
 * Tools of the runtime that run in a shell of their own: the exit code is that of the command and of nothing before it.
 */
const RUNS_ALONE = 'shell_run';
const SHELL_TOOLS: ReadonlySet<string> = new Set([RUNS_ALONE, 'shell_exec', 'shell_wait']);
const FILE_TOOLS: ReadonlySet<string> = new Set(['write', 'edit']);
/** They write about the session, or run what people have set; what is judged stays as it is. */
const OWN_TOOLS: ReadonlySet<string> = new Set(['outcome_define', 'outcome_evaluate']);

/** A command line that ran here, plainly: one command, in a fresh shell, in the workspace. */
export interface PlainRun {
  readonly argv: readonly string[];
  readonly line: string;
  readonly test: TestCommand | undefined;
  readonly startedSeq: number;
  readonly ending: CallEnding & { readonly exitCode: number };
}

export interface WorkChange {
  /** What it was, for people. */
  readonly text: string;
  /** The span in which it happened. */
  readonly fromSeq: number;
  readonly toSeq: number;
  /**
   * `file`: exactly this file. `test_material`: one that decides what tests do. `hidden`: the log does not show what.
   */
  readonly kind: 'file' | 'test_material' | 'hidden';
}

export interface OpenFailure {
  readonly text: string;
  readonly seq: number;
}

export interface WorkShown {
  /** In the order in which they ended. */
  readonly runs: readonly PlainRun[];
  readonly changes: readonly WorkChange[];
  /** From here on nothing was changed; 0 when nothing ever was. */
  readonly settledAfterSeq: number;
  /** What these calls did is unknown, and none was done again. */
  readonly unknown: readonly OpenFailure[];
  /** These failed and have not been done again with success. */
  readonly failed: readonly OpenFailure[];
  /** Test runs whose last try ended badly. */
  readonly failedTests: readonly OpenFailure[];
}

export function shownBy(record: WorkRecord, readCommand: ReadCommand): WorkShown {
  const calls = [...record.calls.values()];
  const runs = calls
    .flatMap((call) => plainRunOf(call, readCommand))
    .toSorted((one, other) => one.ending.seq - other.ending.seq);
  const changes = [
    ...calls.flatMap((call) => changeOf(call, record, readCommand)),
    ...record.delegatedAtSeqs.map(delegated),
  ].toSorted((one, other) => one.fromSeq - other.fromSeq);
  const tried = calls.flatMap((call) => triedOf(call, readCommand));
  return {
    runs,
    changes,
    settledAfterSeq: Math.max(0, ...changes.map(({ toSeq }) => toSeq)),
    unknown: openOnes(tried, 'unknown'),
    failed: openOnes(tried, 'failed'),
    failedTests: openOnes(tried, 'failed_test'),
  };
}

function plainRunOf(call: RecordedCall, readCommand: ReadCommand): PlainRun[] {
  const { name, command, startedSeq, folder, isBackends, result } = call;
  if (
    name !== RUNS_ALONE ||
    command === undefined ||
    startedSeq === undefined ||
    folder !== undefined ||
    isBackends === true
  )
    return [];
  if (result?.outcome !== 'completed' || result.exitCode === undefined) return [];
  const argv = plainArgvOf(command, readCommand);
  if (argv === undefined) return [];
  return [
    { argv, line: command, test: testCommandOf(argv), startedSeq, ending: { ...result, exitCode: result.exitCode } },
  ];
}

function changeOf(call: RecordedCall, { throughSeq }: WorkRecord, readCommand: ReadCommand): WorkChange[] {
  const { name, startedSeq, isReadOnly, isBackends, path, command, result } = call;
  const fromSeq = isBackends === true ? call.seq : startedSeq;
  // What never began here, or was taken back before it did, has changed nothing.
  if (fromSeq === undefined || isReadOnly === true || (OWN_TOOLS.has(name) && isBackends !== true)) return [];
  const toSeq = result?.seq ?? throughSeq;
  const change = (kind: WorkChange['kind']): WorkChange[] => [{ text: textOf(call), fromSeq, toSeq, kind }];
  if (isBackends === true) return change('hidden');
  if (FILE_TOOLS.has(name) && path !== undefined) return change(isTestMaterial(path) ? 'test_material' : 'file');
  if (name === RUNS_ALONE && command !== undefined && isHarmless(command, call, readCommand)) return [];
  return change('hidden');
}

/** Lines of commands that only read, or that run tests as they stand. */
function isHarmless(command: string, { folder }: RecordedCall, readCommand: ReadCommand): boolean {
  const reading = readCommand(command);
  if (reading.kind !== 'commands') return false;
  return reading.commands.every(
    (each) =>
      safetyOf(each).safe ||
      (folder === undefined &&
        reading.commands.length === 1 &&
        isSpelledOut(each) &&
        testCommandOf(each.argv)?.onlyTests === true),
  );
}

function delegated(seq: number): WorkChange {
  return { text: 'work of another agent', fromSeq: seq, toSeq: seq, kind: 'hidden' };
}

interface Tried {
  readonly key: string;
  /** Of a test run: the suite. One that runs all of it makes good whatever of it has failed. */
  readonly test?: TestCommand | undefined;
  readonly ended: 'well' | 'failed' | 'failed_test' | 'unknown';
  readonly seq: number;
  readonly text: string;
}

function triedOf(call: RecordedCall, readCommand: ReadCommand): Tried[] {
  const { name, result, isReadOnly, isBackends } = call;
  if (result === undefined || isBackends === true || OWN_TOOLS.has(name)) return [];
  const argv = call.command === undefined ? undefined : plainArgvOf(call.command, readCommand);
  const test = argv === undefined ? undefined : testCommandOf(argv);
  const ended = endedHow(call, result, test);
  // Searching for what is not there is no failure of the work, nor is a call that was denied or taken back.
  if (ended === undefined || (isReadOnly === true && ended !== 'unknown') || isCheck(call, readCommand)) return [];
  return [
    {
      key: [name, call.folder ?? '', call.command ?? call.path ?? ''].join('\n'),
      test,
      ended,
      seq: result.seq,
      text: textOf(call),
    },
  ];
}

function endedHow(
  { name }: RecordedCall,
  { outcome, exitCode }: CallEnding,
  test: TestCommand | undefined,
): Tried['ended'] | undefined {
  if (outcome === 'unknown') return 'unknown';
  if (outcome === 'denied' || outcome === 'cancelled') return undefined;
  const isBad = outcome === 'failed' || (SHELL_TOOLS.has(name) && exitCode !== 0);
  if (!isBad) return 'well';
  // A shell that goes on has not told yet how the command ends.
  if (outcome === 'completed' && exitCode === undefined && name !== RUNS_ALONE) return undefined;
  return test !== undefined && outcome === 'completed' ? 'failed_test' : 'failed';
}

function isCheck({ name, command, result }: RecordedCall, readCommand: ReadCommand): boolean {
  if (name !== RUNS_ALONE || command === undefined || result?.outcome !== 'completed') return false;
  const reading = readCommand(command);
  return reading.kind === 'commands' && reading.commands.every((each) => safetyOf(each).safe);
}

function openOnes(tried: readonly Tried[], ended: Tried['ended']): OpenFailure[] {
  const isMadeGood = (bad: Tried): boolean =>
    tried.some(
      ({ key, test, ended: end, seq }) =>
        seq > bad.seq &&
        (key === bad.key
          ? end !== 'unknown' || bad.ended === 'unknown'
          : end === 'well' && test?.isWhole === true && test.suite === bad.test?.suite),
    );
  return tried.filter((each) => each.ended === ended && !isMadeGood(each)).map(({ text, seq }) => ({ text, seq }));
}

/** Bounded, since an evaluation holds many of them. */
const MAX_TEXT_CHARACTERS = 200;

function textOf({ name, command, path, result }: RecordedCall): string {
  const subject = command ?? path;
  const ending =
    result === undefined
      ? 'has not ended'
      : result.outcome !== 'completed'
        ? result.outcome
        : result.exitCode === undefined
          ? undefined
          : `exited with ${result.exitCode}`;
  const what = subject === undefined ? name : `${name} ${JSON.stringify(cutText(subject, MAX_TEXT_CHARACTERS))}`;
  return ending === undefined ? what : `${what} ${ending}`;
}

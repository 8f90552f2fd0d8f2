/**
 * Command lines of anything: each ends with an exit code of its own and a message that says what to do, never as a
 * defect.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import type { Command } from 'commander';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT_FAILURE, EXIT_SUCCESS, EXIT_USAGE, exitCodeOf, failureText } from '../../src/cli/failure.ts';
import { createProgram } from '../../src/cli/program.ts';
import { RuntimeError } from '../../src/machines/errors.ts';
import { createNodeRuntime } from '../../src/node.ts';
import { captured } from '../cli/captured.ts';
import { run } from '../cli/command-line.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 300);

/** What would run for ever, or run whatever it is given: of these only the words are read. */
const READ_ONLY_IN_WORDS: ReadonlySet<string> = new Set(['worker', 'task run', 'demo', 'schedule run']);

let home: TemporaryHome;
let sessionId: string;

beforeAll(async () => {
  home = await temporaryHome();
  await using runtime = await createNodeRuntime({ home: home.path });
  await runtime.agents.create({
    agentId: 'player',
    source: { frontmatter: { name: 'Player', provider: 'script', model: 'play.json' }, instructions: '' },
  });
  await writeFile(
    join(home.path, 'agents/player/play.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps: [{ text: 'Hello.' }] }),
  );
  ({ sessionId } = await runtime.sessions.create({ agentId: 'player' }));
});
afterAll(() => home.remove());

const COMMANDS = [
  'session',
  'create',
  'list',
  'status',
  'events',
  'send',
  'interrupt',
  'confirm-tool',
  'custom-tool-result',
  'answer',
  'define-outcome',
  'fork',
  'export',
  'import',
  'delete',
  'terminate',
  'why',
];
const MORE_COMMANDS = [
  'agent',
  'show',
  'validate',
  'wake',
  'worker',
  'task',
  'run',
  'schedule',
  'add',
  'pause',
  'resume',
  'remove',
  'doctor',
  'help',
  'demo',
];
const OPTIONS = [
  '--session',
  '--agent',
  '--message',
  '--json',
  '--after',
  '--limit',
  '--at',
  '--request',
  '--output',
  '--text',
  '--allow',
  '--deny',
  '--title',
  '--as',
  '--parent',
  '--delivery',
  '--idempotency-key',
];
const MORE_OPTIONS = [
  '--id',
  '--cron',
  '--timezone',
  '--until',
  '--max-runs',
  '--catch-up',
  '--overlap',
  '--env',
  '--repair',
  '--reason',
  '--criterion',
  '--concurrency',
  '--until-idle',
  '--help',
  '--version',
  '--',
  '-h',
  '--from',
];
const VALUES = [
  'player',
  'nobody',
  '',
  '0',
  '-1',
  '1',
  '1e9',
  '9007199254740993',
  'NaN',
  '* * * * *',
  '@@',
  'Europe/Berlin',
  'Nowhere/Atall',
  '{}',
  '{"a":1}',
  'null',
  '../..',
  '.',
  '/dev/null',
  '/',
  'queue',
  'steer',
  'log',
  'script',
  'latest',
  '2030-01-31T18:00:00Z',
  'x'.repeat(300),
];

/** The paths of all commands, so that most lines come as far as to do something. */
const paths = [
  ...COMMANDS.slice(1).map((name) => ['session', name]),
  ...['create', 'list', 'show', 'validate'].map((name) => ['agent', name]),
  ...['add', 'list', 'show', 'pause', 'resume', 'remove', 'run'].map((name) => ['schedule', name]),
  ['wake'],
  ['worker'],
  ['doctor'],
  ['task', 'run'],
];

const anyText = fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => !text.startsWith('--home'));
const word = fc.oneof(
  fc.constantFrom(...OPTIONS, ...MORE_OPTIONS),
  fc.constantFrom(...VALUES),
  fc.constantFrom(...COMMANDS, ...MORE_COMMANDS),
  fc.constant('SESSION'),
  anyText,
);
const pair = fc.tuple(
  fc.constantFrom(...OPTIONS, ...MORE_OPTIONS),
  fc.oneof(fc.constantFrom(...VALUES), fc.constant('SESSION'), anyText),
);
const withSession = fc.tuple(fc.constant('--session'), fc.constant('SESSION'));
const line = fc
  .tuple(
    fc.constantFrom([], ...paths),
    fc.array(
      fc.oneof(
        word.map((one) => [one]),
        pair,
        withSession,
      ),
      { maxLength: 6 },
    ),
  )
  .map(([path, rest]) => [...path, ...rest.flat()].map((text) => (text === 'SESSION' ? sessionId : text)));

/** The line in this process, to its exit code. */
async function exitOf(
  words: readonly string[],
): Promise<{ readonly code: number; readonly error: unknown; readonly said: string }> {
  const { context, text } = captured(home.path);
  const program = createProgram(async (command, work) => {
    if (READ_ONLY_IN_WORDS.has(pathOf(command))) return;
    const { json = false } = command.optsWithGlobals<{ readonly json?: boolean }>();
    expect([EXIT_SUCCESS, EXIT_FAILURE]).toContain(await work({ ...context, json }));
  });
  silence(program, (said) => void context.out.push(said));
  try {
    await program.parseAsync(words, { from: 'user' });
    return { code: EXIT_SUCCESS, error: undefined, said: text() };
  } catch (error) {
    if (error instanceof CommanderError)
      return { code: error.exitCode === 0 ? EXIT_SUCCESS : EXIT_USAGE, error: undefined, said: text() };
    return { code: exitCodeOf(error), error, said: failureText(error, context.err) };
  }
}

function silence(command: Command, write: (text: string) => void): void {
  command.configureOutput({ writeOut: write, writeErr: write });
  for (const child of command.commands) silence(child, write);
}

/** The words that lead to a command: `session send`. */
function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}

describe('a command line of anything', () => {
  it(
    'ends with 0, 1 or 2, and what went wrong is an error of the catalogue with a hint',
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(line, async (words) => {
          const { code, error, said } = await exitOf(words);
          expect([EXIT_SUCCESS, EXIT_FAILURE, EXIT_USAGE]).toContain(code);
          if (error !== undefined)
            expect(RuntimeError.is(error), `${error instanceof Error ? error.stack : 'it is no error'}`).toBe(true);
          if (RuntimeError.is(error)) expect(error.category, `category of: ${error.message}`).not.toBe('crash');
          expect(said).not.toMatch(/\n\s+at .*:\d+/);
          if (error !== undefined) expect(said).toMatch(/hint: /);
        }),
        { numRuns: RUNS },
      );
    },
  );

  it('does so as a process too', { timeout: 120_000 }, async () => {
    const safe = line.filter(
      (words) => !words.some((text) => ['worker', 'demo', 'run', '--follow'].includes(text) || text.includes('\0')),
    );
    await fc.assert(
      fc.asyncProperty(safe, async (words) => {
        const { code, stdout, stderr } = await run(words, { env: { WAKECHART_HOME: home.path }, cwd: home.path });
        expect([0, 1, 2], `it said: ${stderr}`).toContain(code);
        expect(stdout + stderr).not.toMatch(/\n\s+at .*:\d+|\[INTERNAL\]/);
        if (code !== 0 && stdout === '') expect(stderr).toMatch(/hint: |Usage: |problem/);
      }),
      { numRuns: Math.ceil(RUNS / 30) },
    );
  });
});

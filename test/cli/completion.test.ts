import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { completionOf } from '../../src/cli/completion/completion.ts';
import { createProgram } from '../../src/cli/program.ts';
import { Output } from '../../src/cli/terminal/output.ts';
import { toldWhile } from '../../src/cli/terminal/progress.ts';
import { run } from './command-line.ts';
import { runInProcess } from './in-process.ts';
import { Stage, sleeps } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(() => stage.close());

const program = createProgram(() => Promise.resolve());
const valuesAfter = (...words: readonly string[]): string[] =>
  completionOf(program, words).candidates.map(({ value }) => value);

describe('what a command line can go on with', () => {
  it.each([
    [['sess'], ['session']],
    [['session', 'st'], ['status']],
    [['session', 'send', '--del'], ['--delivery']],
    [
      ['session', 'send', '--delivery', 'in'],
      ['queue', 'steer', 'interrupt', 'reject-if-busy'],
    ],
    [['--ho'], ['--home']],
    [['session', 'status', '--session', 'ID', '--js'], ['--json']],
  ])('after %j is %j', (words, expected) => {
    expect(valuesAfter(...words)).toEqual(expected);
  });

  it.each([
    [['chat', '--agent', ''], 'agents'],
    [['chat', '--resume', ''], 'sessions'],
    [['wake', '--session', '01'], 'sessions'],
    [['agent', 'show', ''], 'agents'],
    [['worktree', 'remove', ''], 'worktrees'],
    [['session', 'import', ''], 'files'],
    [['task', 'run', '--', 'np'], 'files'],
    [['--home', ''], 'folders'],
    [['chat', '--agent=re'], 'agents'],
    [['import', ''], 'files'],
    [['schedule', 'pause', ''], 'schedules'],
    [['explain', 'TASK_'], 'codes'],
  ])('after %j comes from elsewhere: %s', (words, expected) => {
    expect(completionOf(program, words).values).toBe(expected);
  });

  it('knows the home that was typed, and every noun has a verb', async () => {
    const { id } = await stage.session(sleeps('Done.'));
    const told = await runInProcess([
      'completion',
      'words',
      '--',
      'wake',
      '--home',
      stage.home,
      '--session',
      id.slice(0, 8),
    ]);
    expect(told.stdout).toContain(`${id}\tactor-1`);
    expect(told.stderr).toBe('');
  });

  it('is nothing where the home cannot be read, without a word of trouble', async () => {
    const file = join(stage.home, 'a-file');
    await mkdir(stage.home, { recursive: true });
    await writeFile(file, '');
    expect(await runInProcess(['completion', 'words', '--', 'chat', '--home', file, '--agent', ''])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });
});

describe('init', () => {
  it('makes a first agent, says what comes next, and changes nothing when it is said again', async () => {
    const made = await stage.run('init');
    expect(made.stdout).toMatch(/^Created agent helper\n[^]*Next:\n.* chat --agent helper --home .* # talk with it\n/);
    const again = await stage.run('init', '--provider', 'anthropic', '--model', 'claude-sonnet-4-5');
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Agent helper is there already; nothing/) as string,
    });
    const shown = await stage.run('agent', 'show', 'helper', '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ provider: 'script' });
  });

  it('with a model says what it needs', async () => {
    const made = await stage.run('init', 'thinker', '--provider', 'anthropic', '--model', 'claude-sonnet-4-5');
    expect(made.stdout).toMatch(/Needs the package: npm install @ai-sdk\/anthropic\n/);
  });
});

describe('an id', () => {
  it('may be given by its first characters where they name one thing', async () => {
    const { id } = await stage.session(sleeps('Done.'));
    // Sessions of one minute begin alike.
    const status = await stage.run('session', 'status', '--session', id.slice(0, 23));
    expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining(id) as string });
    const ambiguous = await stage.run('session', 'status', '--session', id.slice(0, 4));
    expect(ambiguous).toMatchObject({ code: 1, stdout: '' });
    expect(ambiguous.stderr).toMatch(
      /^error: \d+ ids of a session begin with ".{4}" \[ID_AMBIGUOUS\]\n[^]*hint: Type more/,
    );
    expect(ambiguous.stderr).toContain(id);
  });

  it('that begins no session says which there are', async () => {
    const { code, stderr } = await stage.run('session', 'why', '--session', 'ffff');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /there is no session whose id begins with "ffff" \[SESSION_NOT_FOUND\]\n {2}hint: Sessions in /,
    );
  });

  it('has at least four of them', async () => {
    const { code, stderr } = await stage.run('session', 'why', '--session', '01a');
    expect(code).toBe(2);
    expect(stderr).toMatch(/expected a session id, received "01a"; 4 of its characters are the least/);
  });
});

describe('what was mistyped', () => {
  it.each([
    [['session', 'send', '--sesion', 'x'], /unknown option '--sesion'\n\(Did you mean --session\?\)/],
    [['session', 'send', '--session', 'x', '--message', 'y', '--delivery', 'stear'], /\(Did you mean steer\?\)/],
    [['events'], /unknown command 'events'\n\(Did you mean session events\?\)/],
    [['sesion', 'list'], /\(Did you mean session\?\)/],
  ])('%j is told with what was meant, and how to see more', async (words, expected) => {
    const { code, stderr } = await stage.run(...words);
    expect(code).toBe(2);
    expect(stderr).toMatch(expected);
    expect(stderr).toMatch(/ {2}hint: See: (?:node|\/\S*node) \S+main\.js .*--help\n$/);
  });
});

describe('a hint', () => {
  it('names the program as it was called, with its home', async () => {
    const { stderr } = await stage.run('worktree', 'show', ' ');
    expect(stderr).toMatch(/hint: .*; (?:node|\/\S*node) \S+main\.js --home \S+ worktree list shows them\.\n/);
  });

  it('names npx where that called it', async () => {
    const env = { npm_lifecycle_event: 'npx', npm_lifecycle_script: 'wakechart "session"', PATH: '/usr/bin:/bin' };
    const { stderr } = await run(['session', 'lst'], { env });
    expect(stderr).toContain('hint: See: npx wakechart session --help\n');
  });
});

describe('what takes long', () => {
  it('says so on a terminal once a second has passed, and takes it back at its end', async () => {
    vi.useFakeTimers();
    try {
      const shown: string[] = [];
      const stream = Object.assign(
        new Writable({
          write(chunk: Buffer, _encoding, done) {
            shown.push(chunk.toString());
            done();
          },
        }),
        { isTTY: true, columns: 60, rows: 20 },
      );
      const err = new Output(stream as unknown as NodeJS.WriteStream, { NO_COLOR: '1' });
      let end: () => void = () => undefined;
      const told = toldWhile({ err }, 'reading all sessions', () => new Promise<void>((resolve) => (end = resolve)));
      await vi.advanceTimersByTimeAsync(900);
      expect(shown).toEqual([]);
      await vi.advanceTimersByTimeAsync(300);
      expect(shown.join('')).toContain('reading all sessions 1.');
      end();
      await told;
      expect(shown.at(-1)).toBe('\r\u001B[K');
    } finally {
      vi.useRealTimers();
    }
  });
});

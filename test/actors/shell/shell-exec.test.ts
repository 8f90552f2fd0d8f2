import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openShellStage } from './shell-stage.ts';
import type { ShellStage } from './shell-stage.ts';

let stage: ShellStage;
beforeEach(async () => {
  stage = await openShellStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

const outputOf = async (command: string): Promise<string> => (await stage.exec(command)).output;

describe('a persistent shell', () => {
  it('keeps its folder, variables, functions and options between commands', async () => {
    expect(await stage.exec('mkdir -p sub && cd sub && x=5')).toEqual({
      shell: 'main',
      output: '',
      exitCode: 0,
      cwd: join(stage.workspace, 'sub'),
      opened: true,
    });
    await stage.exec('greet() { echo "hi $1 $x"; }; set -f; umask 027');
    expect(await stage.exec('greet you; pwd; echo *; umask')).toEqual({
      shell: 'main',
      output: `hi you 5\n${join(stage.workspace, 'sub')}\n*\n0027\n`,
      exitCode: 0,
      cwd: join(stage.workspace, 'sub'),
    });
  });

  it('tells output and errors as they came, with the exit code, to the byte', async () => {
    expect(
      await stage.exec(
        'printf a; printf b >&2; printf "c\\n\\nno newline at the end"; exit_with() { return 7; }; exit_with',
      ),
    ).toMatchObject({
      output: 'abc\n\nno newline at the end',
      exitCode: 7,
    });
  });

  it('says the exit code of a program that a signal ended', async () => {
    expect(await stage.exec('sh -c "kill -TERM \\$\\$"')).toMatchObject({ exitCode: 143 });
  });

  it.each<[string, number, RegExp | string]>([
    ['if', 2, /Syntax error/],
    ['echo "', 2, /Unterminated/],
    ["echo '", 2, /Unterminated/],
    [')', 2, /Syntax error/],
    ['cat <<END\nnot closed', 0, /^not closed/],
    ['echo ends with a backslash \\', 0, 'ends with a backslash \\\n'],
    ['echo comment # not closed', 0, 'comment\n'],
    ['-x', 127, /not found/],
    ['echo ${nobody?has it}; echo after', 2, /has it/],
    ['set -u; echo $nobody; echo after', 2, /nobody/],
    ['. /no/such/file; echo after', 2, /cannot open/],
    ['shift 5', 2, /shift/],
    ['readonly r=1; r=2; echo after', 2, /read only/],
    ['break; echo still', 0, 'still\n'],
    ['exec >/dev/null', 0, ''],
    ['exec 1>&- 2>&-', 0, ''],
    ['exec 3>&-', 0, ''],
    ['exec 0<&-', 0, ''],
    ['stty -a', 1, /Inappropriate ioctl/],
    ['set -v', 0, ''],
    ['set -C', 0, ''],
    ['PWD=/fake', 0, ''],
    ['IFS=0123456789abcdef-', 0, ''],
    ['set -- a b c', 0, ''],
    ['alias printf="echo no" pwd="echo no" command="echo no" eval="echo no" set="echo no" unset="echo no"', 0, ''],
    ['printf() { :; }; pwd() { :; }; command() { :; }', 0, ''],
    ['eval() { :; }', 2, /Bad function name/],
    ['unset() { :; }', 2, /Bad function name/],
    ['trap "" INT TERM', 0, ''],
  ])('lives on after %j', async (command, exitCode, output) => {
    const reply = await stage.exec(command);
    expect(reply).toMatchObject({ exitCode, cwd: stage.workspace });
    if (typeof output === 'string') expect(reply.output).toBe(output);
    else expect(reply.output).toMatch(output);
    expect(await stage.exec('\\echo here')).toEqual({
      shell: 'main',
      output: 'here\n',
      exitCode: 0,
      cwd: stage.workspace,
    });
    expect(await stage.exec('\\true')).toMatchObject({ output: '', exitCode: 0 });
  });

  it('shows traces of commands and none of its own', async () => {
    expect(await outputOf('set -x; echo one')).toBe('+ echo one\none\n');
    expect(await outputOf('echo two')).toBe('+ echo two\ntwo\n');
    await stage.call('shell_set_env', { name: 'TOKEN', value: 'secret' });
    expect(await outputOf('set +x')).not.toContain('secret');
  });

  it('gives commands an empty input, not its script', async () => {
    expect(await outputOf('cat; read line; echo "[$line]"; wc -c; sh -s </dev/stdin; echo done')).toBe('[]\n0\ndone\n');
    expect(await outputOf('echo next')).toBe('next\n');
  });

  it.each([
    ['exit 3', 3, 'it ended with its command: exit code 3'],
    ['set -e; false; echo after', 1, 'it ended with its command: exit code 1'],
    ['exec sh -c "exit 4"', 4, 'it ended with its command: exit code 4'],
    ['return 5', 5, 'it ended with its command: exit code 5'],
    ['kill -9 $$', null, 'it ended with its command: the signal SIGKILL'],
  ])('ends with %j and says so, then and later', async (command, exitCode, shellEnded) => {
    await stage.call('shell_open', { name: 'short' });
    const reply = await stage.exec(`echo before; ${command}`, { shell: 'short' });
    expect(reply).toEqual({ shell: 'short', output: 'before\n', exitCode, shellEnded });
    await expect(stage.exec('echo x', { shell: 'short' })).rejects.toMatchObject({
      code: 'SHELL_CLOSED',
      message: expect.stringContaining(shellEnded),
    });
    expect(await stage.call('shell_history', { shell: 'short' })).toMatchObject({
      open: false,
      ended: shellEnded,
      entries: [{ status: 'shell_ended' }],
    });
    expect(await stage.call('shell_read_last_output', { shell: 'short' })).toMatchObject({ output: 'before\n' });
    expect(await stage.call('shell_open', { name: 'short' })).toEqual({ shell: 'short', cwd: stage.workspace });
    expect(stage.tasks.list()).toHaveLength(1);
  });

  it('is opened anew where none was named, and says so', async () => {
    await stage.exec('x=1; exit 0');
    expect(await stage.exec('echo "[$x]"')).toMatchObject({ output: '[]\n', opened: true });
    expect(await stage.exec('echo again')).not.toHaveProperty('opened');
  });

  it('does not take output for the end of a command, whatever it looks like', async () => {
    const { output } = await stage.exec(
      String.raw`printf '\036%s 0 /\000' 0192f0c1-2345-7abc-8def-0123456789ab; printf '\036\036\036'; tr '\0' '\036' </dev/zero | head -c 100000; echo; env; set; ps -ef | cat; echo end`,
    );
    expect(output).toMatch(/end\n$/);
    expect(await outputOf('echo next')).toBe('next\n');
  });

  it('shows its nonces to no command', async () => {
    // The script of the shell, wherever it can be searched for: variables, arguments, descriptors.
    const seen = await outputOf(
      'set; export -p; trap; tr "\\0" " " </proc/$$/cmdline; cat /proc/$$/environ | tr "\\0" "\\n"; ls -l /proc/$$/fd /proc/self/fd',
    );
    expect(seen).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}/);
  });

  it('takes any bytes for output', async () => {
    expect(await outputOf(String.raw`printf 'a\377\000\033[1mb'`)).toBe('a\u{fffd}\0\u{1b}[1mb');
    expect(
      await outputOf(
        'head -c 5000000 /dev/urandom | head -c 4999999 >/dev/null; head -c 3000 /dev/urandom; echo; echo next',
      ),
    ).toMatch(/next\n$/);
  });

  it('goes on while jobs that were left in the background put things out', async () => {
    expect(
      await outputOf('(while [ ! -e go ]; do sleep 0.01; done; echo from behind; touch went) & echo started'),
    ).toBe('started\n');
    expect(await outputOf('echo working; touch go; while [ ! -e went ]; do sleep 0.01; done')).toBe(
      'working\nfrom behind\n',
    );
    expect(await outputOf('jobs; wait; echo waited')).toMatch(/waited\n$/);
  });

  it('keeps what background jobs put out between commands with the output of the last one', async () => {
    await stage.exec('(while [ ! -e go ]; do sleep 0.01; done; echo late) & echo started');
    await stage.exec('touch go', {
      shell: (await stage.call<{ shell: string }>('shell_open', { name: 'other' })).shell,
    });
    for (;;) {
      const { output } = await stage.call<{ output: string }>('shell_read_last_output');
      if (output === 'started\nlate\n') break;
      expect(output).toBe('started\n');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });

  it('shows the beginning and the end of a flood, and the rest by position', async () => {
    const reply = await stage.exec('echo first; yes 0123456789abcde | head -c 100000000; echo last');
    expect(reply.output.startsWith('first\n')).toBe(true);
    expect(reply.output.endsWith('\nlast\n')).toBe(true);
    expect(reply.output.length).toBeLessThan(31_000);
    expect(reply).toMatchObject({ outputBytes: 100_000_011, leftOut: { from: 10_000, to: 99_980_011 }, exitCode: 0 });
    expect(reply.output).toContain('\n[99970011 bytes left out here: bytes 10000 to 99980011 of the output]\n');
    const page = await stage.call<{ output: string }>('shell_read_last_output', { offset: 10_000, limit: 32 });
    expect(page).toMatchObject({ offset: 10_000, nextOffset: 10_032, totalBytes: 100_000_011 });
    expect(page.output).toHaveLength(32);
    expect(await stage.call('shell_read_last_output', { offset: 1_000_000, limit: 16 })).toMatchObject({
      lostFrom: 1_000_000,
      offset: 100_000_011 - 393_216,
    });
    expect(await stage.call('shell_read_last_output', { offset: 200_000_000 })).toMatchObject({
      output: '',
      offset: 100_000_011,
    });
  }, 60_000);

  it('takes a command of a hundred thousand characters', async () => {
    const command = `echo ${"'x' ".repeat(20_000)}| wc -w; : '${'y'.repeat(19_900)}'`;
    expect(await outputOf(command)).toBe('20000\n');
    expect(await stage.call('shell_history')).toMatchObject({
      entries: [{ command: expect.stringContaining('more characters]') }],
    });
  });

  it('knows the folder it is in, whatever PWD says and however it came there', async () => {
    await stage.exec('mkdir -p real; ln -s real link; cd link; PWD=/fake');
    expect(await stage.exec('true')).toMatchObject({ cwd: join(stage.workspace, 'real') });
    expect(stage.subject('shell_exec', { command: 'ls' })).toEqual({
      kind: 'shell',
      command: 'ls',
      cwd: join(stage.workspace, 'real'),
      isolated: false,
    });
    expect(await stage.exec('mv ../real "../a  new\nname"')).toMatchObject({
      cwd: join(stage.workspace, 'a  new\nname'),
    });
  });

  it('is never judged as one in which commands mean what they say', async () => {
    expect(stage.subject('shell_exec', { command: 'git status' })).toEqual({
      kind: 'shell',
      command: 'git status',
      cwd: stage.workspace,
      isolated: false,
    });
    await stage.exec('cd /');
    expect(stage.subject('shell_exec', { command: 'git status' })).toEqual({
      kind: 'shell',
      command: 'git status',
      cwd: '/',
      isolated: false,
    });
    expect(stage.subject('shell_exec', { command: 'git status', shell: 'other' })).toMatchObject({
      cwd: stage.workspace,
    });
  });

  it('runs nothing while its folder is gone', async () => {
    expect(await stage.exec('mkdir gone; cd gone; rmdir ../gone')).not.toHaveProperty('cwd');
    await expect(stage.exec('ls')).rejects.toMatchObject({ code: 'SHELL_FOLDER_GONE' });
    expect(await stage.call('shell_set_cwd', { cwd: '.' })).toEqual({ shell: 'main', cwd: stage.workspace });
    expect(await outputOf('pwd')).toBe(`${stage.workspace}\n`);
  });

  it('writes real files', async () => {
    await stage.exec('printf %s "$PPID" > file');
    expect(await readFile(join(stage.workspace, 'file'), 'utf8')).toMatch(/^\d+$/);
  });
});

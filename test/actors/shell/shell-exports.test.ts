/** Variables that commands export, from one process of a shell to the next. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ShellRecords } from '../../../src/actors/shell/shell-host.ts';
import type { ToolContext } from '../../../src/actors/turn/tool.ts';
import { knownSecrets, leftOpen } from '../../support/sandbox.ts';
import type { ShellStage } from './shell-stage.ts';
import { RestoringStage } from './restoring-stage.ts';

let at: RestoringStage;
beforeEach(async () => {
  at = await RestoringStage.open();
});
afterEach(() => at[Symbol.asyncDispose]());

describe('what commands have exported', () => {
  const file = (name = 'main'): string => join(at.folder, `session/runtime/shells/${name}.json`);
  /** Runs a command in a shell, kills its process, and runs another in the next. */
  async function across(
    command: string,
    then: string,
    environment?: ToolContext['environment'],
  ): Promise<{ readonly output: string; readonly notRestored: readonly string[]; readonly kept: string }> {
    const options = environment === undefined ? {} : { sessionEnvironment: environment };
    const first = await at.runtime(options);
    await first.exec(command);
    await at.killed(first);
    const kept = await readFile(file(), 'utf8');
    const { output, notRestored = [] } = await (await at.runtime(options)).exec(then);
    return { output, notRestored: notRestored.slice(1), kept };
  }

  it('is there again, so that a virtual environment works on', async () => {
    const bin = join(at.folder, 'workspace/venv/bin');
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, 'python'), '#!/bin/sh\necho "the one of $VIRTUAL_ENV"\n', { mode: 0o755 });
    await writeFile(
      join(bin, 'activate'),
      'VIRTUAL_ENV=$(pwd)/venv; export VIRTUAL_ENV; PATH="$VIRTUAL_ENV/bin:$PATH"; export PATH\n',
    );
    const { output, notRestored, kept } = await across('. venv/bin/activate', 'python');
    expect(output).toBe(`the one of ${join(at.folder, 'workspace/venv')}\n`);
    expect(notRestored).toEqual([]);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(JSON.parse(kept)).toMatchObject({
      exports: { variables: [{ name: 'PATH' }, { name: 'VIRTUAL_ENV' }], notKept: [] },
    });
  });

  it('comes back whatever is in it, changed or removed since, from restart to restart', async () => {
    const value = 'it\'s "x" $HOME `id` \\ é\n\ttwo ; * end ';
    const { output } = await across(
      `export ODD='${value.replaceAll("'", String.raw`'\''`)}'; export EMPTY=; unset LANG; LANG=; export A=1; A=2; unset TZ`,
      'printf "%s|%s|%s" "$ODD" "${EMPTY-none}" "$A"',
    );
    expect(output).toBe(`${value}||2`);
    await at.killed(at.stages.at(-1) as ShellStage);
    expect((await (await at.runtime()).exec('printf %s "$ODD$A"')).output).toBe(`${value}2`);
  });

  it('is kept when the process dies while it is just being opened again', async () => {
    const first = await at.runtime();
    await first.exec('export A=1 B=2');
    await at.killed(first);
    const texts: string[] = [];
    const watched: ShellRecords = {
      ...at.records,
      async write(session, name, record) {
        texts.push(JSON.stringify(record.exports?.variables.map((variable) => variable.name)));
        await at.records.write(session, name, record);
      },
    };
    await (await at.runtime({ records: watched })).exec('true');
    expect(texts.length).toBeGreaterThan(2);
    for (const text of texts) expect(text).toBe('["A","B"]');
  });

  it('is kept nowhere where it is a secret, and is named instead', async () => {
    const secrets = knownSecrets({ 'github/token': 'tok-1234567890' });
    const environment = leftOpen({ workspace: join(at.folder, 'workspace'), secrets });
    const command =
      'export API_KEY=plain-1 SAFE=yes COPY="has tok-1234567890 in it" PG=postgres://me:plain-2@host/db GH=ghp_plain3 MASKED="[redacted github/token]"';
    const { output, notRestored, kept } = await across(
      command,
      'echo "[$API_KEY$COPY$PG$GH$MASKED] $SAFE"',
      environment,
    );
    expect(output).toBe('[] yes\n');
    for (const name of ['API_KEY', 'COPY', 'PG', 'GH', 'MASKED'])
      expect(notRestored).toContainEqual(expect.stringContaining(`the exported variable ${name}: `));
    const { exports } = JSON.parse(kept) as { exports: unknown };
    for (const value of ['plain-1', 'plain-2', 'plain3', 'tok-1234567890'])
      expect(JSON.stringify([exports, notRestored])).not.toContain(value);
  });

  it('does not take the place of what comes from a vault or from the log', async () => {
    const environment = leftOpen({
      workspace: join(at.folder, 'workspace'),
      secrets: knownSecrets({ 'github/token': 'tok-1234567890' }),
    });
    const first = await at.runtime({ sessionEnvironment: environment });
    await first.call('shell_open', { secrets: { MINE: 'github/token' } });
    await at.set(first, 'MODE', 'of-the-call', { environment });
    await at.set(first, 'OTHER', 'of-the-call', { environment });
    await at.set(first, 'GONE', 'of-the-call', { environment });
    await first.exec('export MINE=changed; export OTHER=of-a-command; unset GONE');
    await at.killed(first);
    expect(JSON.parse(await readFile(file(), 'utf8'))).toMatchObject({
      exports: {
        variables: [
          { name: 'GONE', value: null },
          { name: 'OTHER', value: 'of-a-command' },
        ],
        notKept: [],
      },
    });
    const { output, notRestored } = await (
      await at.runtime({ sessionEnvironment: environment })
    ).exec('echo "${#MINE} $MODE $OTHER [$GONE]"');
    expect(output).toBe('14 of-the-call of-a-command []\n');
    expect(notRestored).toHaveLength(1);
  });

  it('is bounded in number and length, and says what it leaves out', async () => {
    const { output, notRestored, kept } = await across(
      'i=0; while [ $i -lt 150 ]; do export V$i=$i; i=$((i+1)); done; export A_LONG=$(head -c 20000 /dev/zero | tr "\\0" x)',
      'echo "[$A_LONG]$(env | grep -c "^V[0-9]")"',
    );
    expect(output).toBe('[]100\n');
    expect(notRestored).toContain('the exported variable A_LONG: its value is longer than 16384 characters');
    expect(notRestored.at(-1)).toMatch(/^21 more exported variables$/);
    const { exports } = JSON.parse(kept) as { exports: { variables: unknown[] } };
    expect(exports.variables).toHaveLength(100);
  });

  it('is not known of a shell that exports more than anybody reads, and it works on', async () => {
    const { output, notRestored } = await across(
      'i=0; BIG=$(head -c 120000 /dev/zero | tr "\\0" x); while [ $i -lt 12 ]; do export B$i=$BIG; i=$((i+1)); done; echo ${#B11}',
      'echo "[$B1]"',
    );
    expect(output).toBe('[]\n');
    expect(notRestored).toEqual([
      'variables that commands have exported: the shell does not say which there are, or they are too long',
    ]);
  });

  it.each([
    ['a variable that cannot be changed', 'readonly FIXED=1; export FIXED; export A=1', '1 1'],
    [
      'functions and aliases in the way',
      'printf() { echo no; }; pwd() { echo no; }; alias export=false printf=false set=false eval=false; \\export FIXED=1 A=1',
      '1 1',
    ],
    ['other separators and strictness', 'export FIXED=1 A=1 IFS=x; set -uf', '1 1'],
    ['output of jobs all the while', '(while :; do echo noise; done) & export FIXED=1 A=1', '1 1'],
  ])('is known in spite of %s', async (_, command, expected) => {
    const { output } = await across(command, 'echo "$FIXED" "$A"');
    expect(output.trim()).toBe(expected);
  });

  it('is said where no command can write, and nothing of it is in any output', async () => {
    const stage = await at.runtime();
    const { output } = await stage.exec(
      'export QUIET=value; (echo forged >&4); echo "status $?"; (sleep 0; echo forged >&4) & wait',
    );
    expect(output).toContain('status 2');
    expect(output.match(/4: Bad file descriptor/g)).toHaveLength(2);
    expect((await stage.exec('sleep 0')).output).toBe('');
  });
});

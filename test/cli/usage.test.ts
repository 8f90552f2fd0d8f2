import { readdir } from 'node:fs/promises';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { examplesOf } from '../../src/cli/command-words.ts';
import { COMMANDS } from '../../src/cli/invocation.ts';
import { createProgram } from '../../src/cli/program.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import { run } from './command-line.ts';
import { runInProcess } from './in-process.ts';

/** Every command, with the words that call it. */
function commandsOf(
  command: Command,
  path: readonly string[] = [],
): { readonly path: readonly string[]; readonly command: Command }[] {
  return [{ path, command }, ...command.commands.flatMap((child) => commandsOf(child, [...path, child.name()]))];
}

const program = createProgram(() => Promise.resolve());
const all = commandsOf(program);
const leaves = all.filter(({ path, command }) => path.length > 0 && command.commands.length === 0);

describe('the commands', () => {
  it('are those that hints name', () => {
    expect(COMMANDS).toEqual(program.commands.map((command) => command.name()));
  });

  it('are those that this version has, and no others', () => {
    expect(leaves.map(({ path }) => path.join(' '))).toEqual([
      'demo',
      'init',
      'agent create',
      'agent list',
      'agent show',
      'agent validate',
      'session create',
      'session list',
      'session status',
      'session send',
      'session define-outcome',
      'session answer',
      'session confirm-tool',
      'session custom-tool-result',
      'session interrupt',
      'session terminate',
      'session fork',
      'session export',
      'session import',
      'session delete',
      'session release',
      'session events',
      'session why',
      'env list',
      'env show',
      'env validate',
      'env create',
      'env compare',
      'outcome define',
      'outcome grade',
      'outcome evaluate',
      'outcome history',
      'learnings list',
      'learnings show',
      'learnings forget',
      'learnings rebuild',
      'memory show',
      'memory versions',
      'memory diff',
      'memory promote',
      'memory restore',
      'memory forget',
      'resources list',
      'resources versions',
      'resources diff',
      'resources restore',
      'retrieval search',
      'retrieval rebuild',
      'skills list',
      'skills show',
      'skills search',
      'skills validate',
      'permission list',
      'permission revoke',
      'permission check',
      'vault list',
      'vault check',
      'auth add',
      'auth list',
      'auth remove',
      'auth status',
      'auth reset',
      'chat',
      'wake',
      'worker',
      'serve http',
      'serve mcp',
      'serve acp',
      'serve a2a',
      'task run',
      'task list',
      'task show',
      'task logs',
      'task attach',
      'task cancel',
      'schedule add',
      'schedule list',
      'schedule show',
      'schedule pause',
      'schedule resume',
      'schedule remove',
      'schedule run',
      'worktree list',
      'worktree show',
      'worktree adopt',
      'worktree remove',
      'tools',
      'import',
      'audit',
      'inspect',
      'store migrate',
      'store check',
      'store roles',
      'store copy',
      'store prune',
      'fleet',
      'doctor',
      'explain',
      'completion bash',
      'completion zsh',
      'completion fish',
      'completion words',
    ]);
  });

  it.each(leaves.map(({ path, command }) => [path.join(' '), command] as const))(
    '%s says what it does, with an example of itself',
    (path, command) => {
      expect(command.description()).not.toBe('');
      expect(examplesOf(command)).not.toEqual([]);
      for (const example of examplesOf(command)) expect(example).toMatch(new RegExp(`^wakechart ${path}\\b`));
      for (const option of command.options) expect(option.description).not.toBe('');
    },
  );
});

describe('help', () => {
  it('goes to standard output and is a success', async () => {
    const [whole, one, version] = await Promise.all([
      run(['--help']),
      runInProcess(['session', 'send', '--help']),
      runInProcess(['--version']),
    ]);
    expect(whole).toMatchObject({ code: 0, stderr: '' });
    // Nothing on the PATH of a test leads here: what is shown can be pasted all the same.
    expect(whole.stdout).toMatch(/\$ .*main\.js demo\n/);
    expect(one).toMatchObject({ code: 0, stderr: '' });
    expect(one.stdout).toMatch(/\$ .*main\.js session send --session ID --message "Review the diff\."\n/);
    expect(one.stdout).toMatch(/Global Options:[\s\S]*--json/);
    expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string });
  });
});

describe('wrong usage', () => {
  const id = '0192f0c1-2345-7abc-8def-0123456789ab';
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /Usage: wakechart/],
    [['session'], /Usage: wakechart session/],
    [['sesion', 'list'], /unknown command 'sesion'[\s\S]*Did you mean session\?/],
    [['session', 'list', '--jsn'], /unknown option '--jsn'[\s\S]*Did you mean --json\?/],
    [['session', 'list', 'more'], /too many arguments/],
    [['session', 'send', '--session', id], /required option '--message <text>' not specified/],
    [['session', 'send', '--session', id, '--message', ''], /--message.*not empty/],
    [
      ['session', 'send', '--session', id, '--message', 'x', '--idempotency-key', 'k'.repeat(201)],
      /at most 200 characters after --idempotency-key, received 201/,
    ],
    [['session', 'events', '--session', id, '--after', '-1'], /--after/],
    [['session', 'events', '--session', id, '--limit', 'many'], /'many' is invalid. Expected a whole number from 1/],
    [['session', 'create', '--agent', 'No Such Name'], /expected the name of an agent, received "No Such Name"/],
    [['agent', 'show', '../etc'], /expected the name of an agent, received "..\/etc"/],
    [['--home', '', 'session', 'list'], /--home.*not empty/],
    [['task', 'run', '--timeout-ms', '0', '--', 'true'], /--timeout-ms.*whole number from 1/],
    [['task', 'run', '--'], /missing required argument 'command'/],
    [['task', 'run', '--', ' '], /expected a command after --/],
    [['task', 'run', 'ls', '-l'], /unknown option '-l'[\s\S]*Put -- before the command/],
    [['demo', '--home', 'x'], /expected no --home/],
    [['worktree', 'remove'], /missing required argument 'name'/],
    [['worktree', 'show', ' '], /expected the name of a worktree/],
  ];

  it('exits with 2, says what to do on standard error, and does nothing', async () => {
    const folder = await temporaryHome();
    const checkout = process.cwd();
    process.chdir(folder.path);
    // Each of them in this process, and one as a program too.
    const ends = await Promise.all([
      ...cases.map(([words]) => runInProcess(words)),
      run(cases[2]?.[0] ?? [], { cwd: folder.path }),
    ]).finally(() => process.chdir(checkout));
    expect(await readdir(folder.path)).toEqual([]);
    await folder.remove();
    // Hints name the program that was called.
    const called = ends.pop();
    expect({ ...called, stderr: called?.stderr.replace('/dist/cli/', '/src/cli/') }).toEqual(ends[2]);
    for (const [index, { code, stdout, stderr }] of ends.entries()) {
      const [words, complaint] = cases[index] ?? [[], /never/];
      expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: '' });
      expect(stderr).toMatch(complaint);
      if (words.length > 1) expect(stderr).toMatch(/^ {2}hint: /m);
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  });
});

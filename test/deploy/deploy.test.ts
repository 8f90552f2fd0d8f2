import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Copy } from 'dockerfile-ast';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { ENVIRONMENT_VARIABLES } from '../docs/environment-variables.ts';
import { CHECKOUT, DEPLOY, composition, image, settingOf, textOf } from './deployed.ts';

/** How long the end of a worker takes at most: 30 seconds for what runs, and what is then stopped. */
const LONGEST_END_S = 40;

/** Why the program would refuse the words; undefined where it takes them. */
function refusalOf(words: readonly string[]): string | undefined {
  let command = createProgram(async () => undefined);
  let index = 0;
  for (; index < words.length; index += 1) {
    const next = command.commands.find((each) => each.name() === words[index]);
    if (next === undefined) break;
    command = next;
  }
  if (index === 0) return `no command ${words.join(' ')}`;
  const known = command.options.map(({ long }) => long);
  return words.slice(index).find((word) => word.startsWith('--') && !known.includes(word));
}

const UNITS = ['wakechart-worker.service', 'wakechart-prune.service', 'wakechart-prune.timer'];
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

describe('the image', () => {
  it('is built from files that are there, runs as no administrator, and takes what process 1 has to', () => {
    const { all, words } = image();
    const copies = all.filter((each) => each instanceof Copy && each.getFlags().length === 0);
    expect(copies).toHaveLength(2);
    for (const source of copies.flatMap((each) => each.getArguments().slice(0, -1)))
      expect(existsSync(join(CHECKOUT, source.getValue()))).toBe(true);
    expect(words('USER')).toEqual(['node']);
    expect(words('ENTRYPOINT')).toEqual(['tini', '--', 'wakechart']);
    expect(refusalOf(words('CMD'))).toBeUndefined();
  });

  it('asks the port for its health that the worker listens on', () => {
    const { words } = image();
    const [port = ''] = words('EXPOSE');
    expect(words('CMD')).toContain(`0.0.0.0:${port}`);
    expect(words('HEALTHCHECK').join(' ')).toContain(`http://127.0.0.1:${port}/healthz`);
  });

  it('has every file of the repository in its context, of which its first stage makes the package as CI does', () => {
    const ignored = ['ls-files', '--cached', '--ignored', `--exclude-from=${join(DEPLOY, 'Dockerfile.dockerignore')}`];
    expect(execFileSync('git', ignored, { cwd: CHECKOUT, encoding: 'utf8' })).toBe('');
  });

  it('leaves out of its context what is made here, and secrets', () => {
    const lines = textOf('Dockerfile.dockerignore').split('\n');
    expect(lines).toEqual(expect.arrayContaining(['**/node_modules', '.git', 'deploy/.env', '**/.wakechart']));
  });
});

describe('the composition', () => {
  const { services, volumes } = composition();
  const ours = Object.entries(services).filter(([, { image: name }]) => name === 'wakechart');

  it('runs commands of this version with options that they have', () => {
    for (const [, { command = [], profiles = [] }] of ours) {
      // A profile of its own may be ahead of the commands that there are.
      if (profiles.length > 0 && refusalOf(command)?.startsWith('no command') === true) continue;
      expect(refusalOf(command)).toBeUndefined();
    }
  });

  it('names services, volumes, files and variables that there are', () => {
    const variables = ENVIRONMENT_VARIABLES.map(({ name }) => name);
    for (const service of Object.values(services)) {
      for (const other of Object.keys(service.depends_on ?? {})) expect(services).toHaveProperty(other);
      for (const mount of service.volumes ?? []) expect(volumes).toHaveProperty(mount.split(':')[0] ?? '');
      if (service.build !== undefined)
        expect(existsSync(join(DEPLOY, service.build.context, service.build.dockerfile))).toBe(true);
      for (const variable of Object.keys(service.environment ?? {}))
        if (variable.startsWith('WAKECHART_')) expect(variables).toContain(variable);
    }
  });

  it('has words only where words are meant: a colon in a line makes it something else', () => {
    for (const { command = [], healthcheck, volumes: mounts = [], ports = [] } of Object.values(services))
      for (const word of [...command, ...(healthcheck?.test ?? []), ...mounts, ...ports])
        expect(word).toBeTypeOf('string');
  });

  it('gives workers the time that they may take to end, and holds no password', () => {
    for (const [, { stop_grace_period: grace = '' }] of ours)
      expect(Number.parseInt(grace, 10)).toBeGreaterThan(LONGEST_END_S);
    expect(textOf('compose.yaml')).not.toMatch(/PASSWORD: (?!\$\{)/);
  });
});

describe('the units', () => {
  it.each(UNITS.filter((unit) => unit.endsWith('.service')))('%s runs a command of this version', (unit) => {
    const [start = ''] = settingOf(unit, 'ExecStart');
    expect(refusalOf(start.split(' ').slice(1))).toBeUndefined();
  });

  it('give a worker the time that it may take to end, and know that end from a failure', () => {
    expect(Number(settingOf('wakechart-worker.service', 'TimeoutStopSec')[0])).toBeGreaterThan(LONGEST_END_S);
    expect(settingOf('wakechart-worker.service', 'SuccessExitStatus')).toEqual(['143']);
    expect(settingOf('wakechart-worker.service', 'KillMode')).toEqual(['mixed']);
    expect(settingOf('wakechart-prune.service', 'SuccessExitStatus')).toEqual([]);
  });

  it.skipIf(!hasSystemd)('are understood by systemd, every line of them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'units-'));
    try {
      const paths = UNITS.map((unit) => {
        const path = join(folder, unit);
        // It wants to see the program.
        writeFileSync(path, textOf(unit).replaceAll('ExecStart=wakechart', `ExecStart=${process.execPath}`));
        return path;
      });
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...paths], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.skipIf(spawnSync('bwrap', ['--version']).status !== 0 || process.getuid?.() !== 0)(
    'leave a sandbox what it is made of',
    () => {
      // As the worker's unit has it: no privilege to be gained, and none in the bounding set.
      const shut = ['--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs', '--bounding-set=-all'];
      const sandbox = [
        'bwrap',
        '--ro-bind',
        '/',
        '/',
        '--proc',
        '/proc',
        '--dev',
        '/dev',
        '--unshare-all',
        'echo',
        'in',
      ];
      expect(execFileSync('setpriv', [...shut, '--inh-caps=-all', ...sandbox], { encoding: 'utf8' })).toBe('in\n');
    },
  );
});

/** The Tab key in real shells, at a real terminal. */
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { Tmux, hasTmux } from '../support/tmux.ts';
import { program } from './command-line.ts';

/** How each is started without settings of a user, and told of our completion. */
const SHELLS = {
  bash: {
    start: 'bash --norc --noprofile',
    load: 'eval "$(wakechart completion bash)"; complete -F _wakechart wc',
  },
  zsh: { start: 'zsh -f', load: 'autoload -U compinit; compinit -D; eval "$(wakechart completion zsh)"' },
  fish: { start: 'fish --no-config', load: 'wakechart completion fish | source' },
} as const;

const hasShell = (name: string): boolean => spawnSync(name, ['-c', 'true'], { stdio: 'ignore' }).status === 0;

const missing = Object.keys(SHELLS).filter((name) => !hasShell(name));
if (missing.length > 0) {
  const word = `shells: ${missing.join(', ')} missing; their completion is not tested. Install them with apt-get install ${missing.join(' ')}.`;
  if (process.env['CI'] === 'true') throw new Error(word);
  process.stderr.write(`${word}\n`);
}

let home: TemporaryHome;
let terminal: Tmux | undefined;

beforeEach(async () => {
  home = await temporaryHome();
  const bin = join(home.path, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'wakechart'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  await chmod(join(bin, 'wakechart'), 0o755);
});
afterEach(async () => {
  await terminal?.close();
  await home.remove();
});

describe.skipIf(!hasTmux)('the Tab key', { timeout: 120_000 }, () => {
  for (const [name, { start, load }] of Object.entries(SHELLS)) {
    it.skipIf(missing.includes(name))(`in ${name} goes on with commands, options, agents and sessions`, async () => {
      const runtime = await createNodeRuntime({ home: home.path });
      await runtime.agents.create({
        agentId: 'gardener',
        source: { frontmatter: { name: 'Gardener', provider: 'script', model: 'script.json' }, instructions: 'Dig.' },
      });
      const { sessionId } = await runtime.sessions.create({ agentId: 'gardener' });
      await runtime.shutdown();
      const shell = await Tmux.open({
        columns: 120,
        shell: start,
        env: {
          PATH: `${join(home.path, 'bin')}:${process.env['PATH'] ?? ''}`,
          WAKECHART_HOME: home.path,
          HOME: home.path,
          TMPDIR: home.path,
          XDG_CONFIG_HOME: home.path,
          XDG_DATA_HOME: home.path,
        },
      });
      terminal = shell;
      await shell.line(load);
      await shell.line('echo it "is" ready');
      await shell.shows('it is ready');
      const completes = async (typed: string, whole: string): Promise<void> => {
        await shell.text(typed);
        await shell.keys('Tab');
        await shell.shows(whole);
        // A shell that still completes takes no key.
        await expect
          .poll(async () => {
            await shell.keys('C-c');
            return (await shell.screen()).split('\n').at(-1);
          })
          .not.toContain('wakechart');
      };
      await completes('wakechart sche', 'wakechart schedule');
      await completes('wakechart doctor --repa', 'wakechart doctor --repair');
      await completes('wakechart session send --delivery inte', '--delivery interrupt');
      await completes('wakechart chat --agent gar', 'chat --agent gardener');
      await completes(`wakechart wake --session ${sessionId.slice(0, 6)}`, 'wake --session SESSION');
      await completes('wakechart chat --agent=gar', 'chat --agent=gardener');
      await completes('wakechart explain TASK_LOS', 'explain TASK_LOST');
      await shell.line('clear; alias wc=wakechart');
      await completes('wc chat --agent gar', 'wc chat --agent gardener');
      expect(await shell.screen({ history: true })).not.toContain('error');
    });
  }
});

/** `wakechart import` and `wakechart tools`, through the command line. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImportReport } from '../../src/machines/import/import-report.ts';
import type { CatalogueEntry } from '../../src/machines/turn/tool-catalogue.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { RUN, lines, openboaSession, put, rowboatEvents } from '../adapters/import-logs/foreign-home.ts';
import { start } from './command-line.ts';
import { runInProcess } from './in-process.ts';
import { Stage, runs } from './stage.ts';

let stage: Stage;
let foreign: TemporaryHome;

beforeAll(async () => {
  stage = await Stage.open();
  foreign = await temporaryHome();
  // Makes the agent actor-1, with a session.
  await stage.session(runs('true'));
});

afterAll(async () => {
  await stage.close();
  await foreign.remove();
});

describe('wakechart import', () => {
  it('says what it would do, does it, and then says that it is done', async () => {
    const home = join(foreign.path, 'one');
    await put(join(home, 'runs', `${RUN}.jsonl`), `${lines(...rowboatEvents)}{"torn`);
    const words = ['import', '--from', 'rowboat', home, '--agent', 'actor-1'];
    const check = await stage.run(...words, '--dry-run');
    expect(check).toMatchObject({ code: 0, stderr: '' });
    expect(check.stdout).toMatch(
      /would import[\s\S]*line 11: the last line is only the beginning of a record[\s\S]*1 session of rowboat found: 1 would be imported, 0 here already, 0 could not be[\s\S]*may hold secrets/,
    );
    expect(await stage.run(...words)).toMatchObject({ code: 0 });
    const again = JSON.parse((await stage.run(...words, '--json')).stdout) as ImportReport;
    expect(again).toMatchObject({
      from: 'rowboat',
      found: 1,
      imported: 0,
      already: 1,
      failed: 0,
      sessionIds: { [RUN]: again.sessions[0]?.sessionId },
    });
    const events = await stage.run('session', 'events', '--session', again.sessions[0]?.sessionId ?? '');
    expect(events).toMatchObject({ code: 0, stdout: expect.stringContaining('There is a.txt.') as string });
  });

  it('exits with 1 when a session could not come, and the others have', async () => {
    const home = join(foreign.path, 'two');
    await openboaSession(home, { agent: 'actor-1' });
    await openboaSession(home, { agent: 'stranger' });
    const { code, stdout } = await stage.run('import', '--from', 'openboa', home);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /there is no agent "stranger" here[\s\S]*wakechart agent create stranger[\s\S]*2 sessions of openboa found: 1 imported, 0 here already, 1 could not be/,
    );
    expect(stdout).toContain('What was unread or queued waits until it is woken');
  });

  it('that somebody interrupts ends in good order, with an account of what came', async () => {
    const home = join(foreign.path, 'many');
    const RUNS = 300;
    const run = (n: number): string => `many-${n}`;
    const record = (n: number): string =>
      `${JSON.stringify({ runId: run(n), type: 'message', message: { role: 'user', content: 'x' }, subflow: [] })}\n`;
    await Promise.all(Array.from({ length: RUNS }, (_, n) => put(join(home, 'runs', `${run(n)}.jsonl`), record(n))));
    const sessions = join(stage.home, 'agents', 'actor-1', 'sessions');
    const before = (await readdir(sessions)).length;
    const running = start(['import', '--from', 'rowboat', home, '--agent', 'actor-1', '--json', '--home', stage.home]);
    while ((await readdir(sessions)).length === before && running.process.exitCode === null) await delay(2);
    running.process.kill('SIGINT');
    const { code, stdout, stderr } = await running.ended;
    expect([code, stderr]).toEqual([130, '']);
    const report = JSON.parse(stdout) as ImportReport;
    expect(report).toMatchObject({ found: RUNS, failed: 0 });
    expect(report.imported).toBeGreaterThan(0);
    expect(report.imported + report.notReached).toBe(RUNS);
    expect((await readdir(sessions)).filter((name) => !name.startsWith('.'))).toHaveLength(before + report.imported);
  });

  it('leaves a home that the doctor finds nothing wrong with', async () => {
    expect(await stage.run('doctor')).toMatchObject({ code: 0 });
  });

  it('refuses what it does not know before it checks', async () => {
    expect(await stage.run('import', '--from', 'elsewhere', foreign.path)).toMatchObject({ code: 2 });
    expect(await stage.run('import', foreign.path)).toMatchObject({ code: 2 });
    expect(await stage.run('import', '--from', 'openboa', foreign.path, '--agent', 'Not A Name')).toMatchObject({
      code: 2,
    });
    expect((await stage.run('import', '--from', 'openboa', foreign.path, '--agent', 'nobody')).stderr).toContain(
      '[AGENT_NOT_FOUND]',
    );
    expect((await stage.run('import', '--from', 'openboa', join(foreign.path, 'gone'))).stderr).toContain(
      '[IMPORT_UNREADABLE]',
    );
  });
});

describe('wakechart tools', () => {
  it('lists every managed tool, and makes no home for that', async () => {
    const home = join(foreign.path, 'no-home');
    const { code, stdout } = await runInProcess(['tools', '--json', '--home', home]);
    expect(code).toBe(0);
    const { tools } = JSON.parse(stdout) as { readonly tools: readonly CatalogueEntry[] };
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['read', 'shell_run', 'ask_human']));
    expect((await runInProcess(['session', 'list', '--home', home])).code).toBe(0);
  });

  it('says what an agent gets, and what it does not, with the reason', async () => {
    await stage.runtime.agents.create({
      agentId: 'picky',
      source: {
        frontmatter: {
          name: 'picky',
          provider: 'script',
          model: 'script.json',
          tools: ['files', 'telepathy', { agent: 'not-there' }, { mcp: 'docs' }],
          mcp: { docs: { command: 'docs-server' } },
        },
        instructions: 'Play.',
      },
    });
    const listed = JSON.parse((await stage.run('tools', '--agent', 'picky', '--json')).stdout) as {
      readonly tools: readonly CatalogueEntry[];
      readonly skipped: readonly { readonly name: string }[];
    };
    expect(listed.tools.map(({ name }) => name)).toEqual(['read', 'write', 'edit', 'glob', 'grep']);
    expect(listed.skipped).toMatchObject([
      { name: 'telepathy', reason: 'no tool of this name is available' },
      { name: 'not-there' },
      { name: 'docs', reason: expect.stringContaining('no server is started') as string },
    ]);
    expect((await stage.run('tools', '--agent', 'picky')).stdout).toMatch(/skipped telepathy: no tool of this name/);
    expect((await stage.run('tools', '--agent', 'pickyy')).stderr).toContain('Did you mean "picky"?');
  });
});

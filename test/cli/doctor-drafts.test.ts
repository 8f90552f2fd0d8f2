/** What `wakechart doctor` makes of files that were being written when their process was killed. */
import { mkdir, rename, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { homeDrafts, sessionDrafts } from '../../src/cli/doctor/check-drafts.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { IDENTITY } from '../support/session-events.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { Stage, sleeps } from './stage.ts';

const ID = '0192f0c1-2345-4abc-8def-0123456789ab';
const RUNTIME = 'workspace/.wakechart-runtime';
const NOW_MS = Date.UTC(2026, 0, 1);
const OLD = new Date(NOW_MS - 3_600_001);

let home: TemporaryHome;
let layout: HomeLayout;
beforeEach(async () => {
  home = await temporaryHome();
  layout = new HomeLayout(home.path);
});
afterEach(() => home.remove());

async function put(path: string, changedAt = OLD): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, 'half');
  await utimes(path, changedAt, changedAt);
  return path;
}
const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
const foundIn = async (): Promise<string[]> =>
  [...(await homeDrafts(home.path, NOW_MS)), ...(await sessionDrafts(layout, IDENTITY, NOW_MS))].map(
    ({ where }) => where,
  );

const DRAFTS = [
  [`policy/.rules.json.${ID}.tmp`],
  [`policy/.rules.lock.${ID}.draft`],
  [`schedules/definitions/.nightly.json.${ID}.draft`],
  [`schedules/nightly-0a1b/00000001.jsonl.${ID}-3.draft`],
  [`agents/tester/.agent.md.${ID}.tmp`],
  [`agents/tester/learnings/.${ID}.tmp`],
  [`agents/tester/substrate-versions/.${ID}.tmp`],
  [`agents/tester/retrieval/.0192f0c1-2345-7abc-8def-0123456789ab.part.${ID}.draft`],
  [`agents/tester/sessions/${IDENTITY.sessionId}/${RUNTIME}/attachments/.${ID}.tmp`],
  [`agents/tester/sessions/${IDENTITY.sessionId}/${RUNTIME}/outputs/.wakechart-${ID}.draft`],
  [`agents/tester/sessions/${IDENTITY.sessionId}/${RUNTIME}/.wakechart-${ID}.draft`],
] as const;

describe('a draft that is an hour old', () => {
  it.each(DRAFTS)('%s is found, and removed on demand', async (name) => {
    const path = await put(join(home.path, name));
    const beside = await put(join(dirname(path), 'beside.json'));
    const findings = [...(await homeDrafts(home.path, NOW_MS)), ...(await sessionDrafts(layout, IDENTITY, NOW_MS))];
    expect(findings).toMatchObject([{ severity: 'note', where: path, isRepairable: true }]);
    for (const { repair } of findings) await repair?.();
    expect(await isThere(path)).toBe(false);
    expect(await isThere(beside)).toBe(true);
    // Somebody else was faster.
    for (const { repair } of findings) await repair?.();
  });
});

describe('what is left alone', () => {
  it.each(DRAFTS)('%s while somebody may be at it', async (name) => {
    await put(join(home.path, name), new Date(NOW_MS - 3_599_000));
    expect(await foundIn()).toEqual([]);
  });

  it.each([
    [`agents/tester/sessions/${IDENTITY.sessionId}/${RUNTIME}/attachments/${'a'.repeat(64)}.draft`],
    [`agents/tester/sessions/${IDENTITY.sessionId}/${RUNTIME}/attachments/${ID}.tmp`],
    [`agents/tester/sessions/${IDENTITY.sessionId}/workspace/.wakechart-${ID}.draft`],
    [`agents/tester/notes.${ID}.draft`],
    ['schedules/definitions/x.draft'],
  ])('%s, which may be what somebody keeps', async (name) => {
    await put(join(home.path, name));
    expect(await foundIn()).toEqual([]);
  });

  it('a folder that bears the name of a draft', async () => {
    const path = join(home.path, 'policy', `.rules.json.${ID}.tmp`);
    await mkdir(path, { recursive: true });
    await utimes(path, OLD, OLD);
    expect(await foundIn()).toEqual([]);
  });

  it('what lies where a link in the workspace leads', async () => {
    const elsewhere = join(home.path, 'elsewhere');
    const path = await put(join(elsewhere, 'outputs', `.wakechart-${ID}.draft`));
    const workspace = join(layout.session(IDENTITY), 'workspace');
    await mkdir(workspace, { recursive: true });
    await symlink(elsewhere, join(workspace, '.wakechart-runtime'));
    expect(await foundIn()).toEqual([]);
    expect(await isThere(path)).toBe(true);
  });

  it('a file that came where the draft was, and what a link leads to that was put in between', async () => {
    const path = await put(join(layout.session(IDENTITY), RUNTIME, 'outputs', `.wakechart-${ID}.draft`));
    const findings = await sessionDrafts(layout, IDENTITY, NOW_MS);
    await put(path, new Date(NOW_MS));
    for (const { repair } of findings) await repair?.();
    expect(await isThere(path)).toBe(true);
    const moved = join(home.path, 'moved');
    await rename(dirname(path), moved);
    await utimes(join(moved, `.wakechart-${ID}.draft`), OLD, OLD);
    await symlink(moved, dirname(path));
    for (const { repair } of findings) await repair?.().catch(() => undefined);
    expect(await isThere(join(moved, `.wakechart-${ID}.draft`))).toBe(true);
  });
});

describe('the doctor', () => {
  it('tells of drafts as notes, and sweeps them with --repair', async () => {
    const stage = await Stage.open();
    try {
      const { id, workspace } = await stage.session(sleeps('Never.'));
      await stage.run('doctor', '--repair');
      const changedAt = new Date(0);
      const drafts = [
        await put(join(workspace, '.wakechart-runtime/attachments', `.${ID}.tmp`), changedAt),
        await put(join(stage.home, 'policy', `.rules.json.${ID}.tmp`), changedAt),
      ];
      const { code, stdout } = await stage.run('doctor', '--json');
      expect(code).toBe(0);
      const { findings } = JSON.parse(stdout) as {
        readonly findings: readonly { readonly where: string; readonly severity: string }[];
      };
      expect(new Map(findings.map(({ where, severity }) => [where, severity]))).toEqual(
        new Map(drafts.map((path) => [path, 'note'])),
      );
      expect((await stage.run('doctor', '--repair')).code).toBe(0);
      for (const path of drafts) expect(await isThere(path)).toBe(false);
      expect(await stage.run('session', 'status', '--session', id)).toMatchObject({ code: 0 });
      expect((await stage.run('doctor')).stdout).toMatch(/^Healthy: \S+\n(?:sandbox: off for .*\n)?$/);
    } finally {
      await stage.close();
    }
  });
});

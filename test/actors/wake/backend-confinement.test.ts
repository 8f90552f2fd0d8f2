/**
 * What a backend may do that runs tools of its own: nothing but its word keeps it in the workspace, so nothing is
 * allowed unseen that may lie elsewhere.
 */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RunPermissionAnswer, RunPermissionRequest } from '../../../src/actors/run/agent-runtime.ts';
import { createFileTools } from '../../../src/adapters/file-tools/file-tools.ts';
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';
import type { AgentFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { answered, ask, asksFirst, ends, openBackendSetup, requests } from '../../support/backend-setup.ts';
import type { BackendSetup } from '../../support/backend-setup.ts';

type Question = Pick<RunPermissionRequest, 'name'> & Partial<RunPermissionRequest>;
type Permission = NonNullable<AgentFrontmatter['permission']>;

let open: BackendSetup | undefined;

afterEach(async () => {
  await open?.setup[Symbol.asyncDispose]();
  open = undefined;
});

/** What becomes of each question where nobody can be asked: `allow`, `asks`, or `deny`. */
async function judged(
  permission: Permission,
  questions: (workspace: string) => readonly Question[],
): Promise<string[]> {
  const answers: RunPermissionAnswer[] = [];
  open = await openBackendSetup(
    [
      async (params) => {
        for (const [index, question] of questions(params.workspaceDir).entries())
          answers.push(await ask(params, { callId: `c${index}`, input: {}, ...question }));
        return answered('Done.');
      },
    ],
    { tools: createFileTools(), readShell, humans: 'none', agent: { permission } },
  );
  const workspace = await open.setup.layout.workspaceDirectory({ sessionId: open.id, agentId: 'worker' });
  await mkdir(join(workspace, 'keys'), { recursive: true });
  await symlink('/etc', join(workspace, 'link'));
  await symlink('/nowhere/new', join(workspace, 'dangling'));
  await writeFile(join(workspace, 'a.txt'), 'x');
  await open.setup.runtime.wake(open.id);
  return answers.map((answer) =>
    answer.decision === 'allow' ? 'allow' : answer.message.includes('would have to be asked') ? 'asks' : 'deny',
  );
}

const reads = (path: string, more: object = {}): Question => ({ name: 'Read', means: { kind: 'read', path, ...more } });
const searches = (path: string): Question => ({ name: 'Grep', means: { kind: 'read', path, reachesBelow: true } });
const writes = (path: string): Question => ({ name: 'Write', means: { kind: 'write', path } });
const edits = (path: string): Question => ({ name: 'Edit', means: { kind: 'write', path, edits: true } });

describe('what may lie outside the workspace', () => {
  const OUTSIDE = [
    '/etc/shadow',
    '/proc/self/environ',
    '../../../../etc/passwd',
    'keys/../../x',
    'link/passwd',
    'link',
    'dangling',
    '~/.bash_history',
    'a.txt\0/../../etc',
    'file:///etc/passwd',
    ' /etc/passwd',
    '..',
  ];

  it.each(['ask', 'preapproved', { mode: 'ask', allow: ['read', 'write', 'write(**)', 'read(**)'] }] as const)(
    'is asked about with the permissions %j',
    async (permission) => {
      const outcomes = await judged(permission as never, () =>
        OUTSIDE.flatMap((path) => [reads(path), searches(path), writes(path), edits(path)]),
      );
      expect(outcomes).toEqual(OUTSIDE.flatMap(() => ['asks', 'asks', 'asks', 'asks']));
    },
  );

  it('is denied where the agent may run no tools', async () => {
    expect(await judged('deny', () => [reads('/etc/shadow')])).toEqual(['deny']);
  });

  it('begins in the folder that the program names', async () => {
    expect(
      await judged('preapproved', () => [
        reads('passwd', { cwd: '/etc' }),
        reads('passwd', { cwd: 'link' }),
        reads('x', { cwd: 'keys/..' }),
        reads('a.txt', { cwd: '.' }),
      ]),
    ).toEqual(['asks', 'asks', 'asks', 'allow']);
  });

  it('does not keep what lies inside from being used as the rules say', async () => {
    const inside = (workspace: string): readonly Question[] => [
      reads('a.txt'),
      reads(join(workspace, 'a.txt')),
      searches('.'),
      writes('new/b.txt'),
    ];
    expect(await judged('ask', inside)).toEqual(['allow', 'allow', 'allow', 'asks']);
    await open?.setup[Symbol.asyncDispose]();
    expect(await judged('preapproved', inside)).toEqual(['allow', 'allow', 'allow', 'allow']);
  });

  it('is not for somebody to allow but this once', async () => {
    const answers: RunPermissionAnswer[] = [];
    open = await openBackendSetup([asksFirst([], { means: { kind: 'read', path: '/etc/hostname' } }, answers)], {
      tools: createFileTools(),
      agent: { permission: 'preapproved' },
    });
    const waking = open.setup.runtime.wake(open.id);
    await expect.poll(() => open?.setup.requests(open.id)).toHaveLength(1);
    await expect(open.setup.confirm(open.id, { toolName: 'Bash', scope: 'session' })).rejects.toThrow(
      'can be allowed once only',
    );
    await open.setup.confirm(open.id, { toolName: 'Bash' });
    await waking;
    const [asked] = await open.setup.dataOf(open.id, 'permission.requested');
    expect([answers, asked?.rules, asked?.because]).toEqual([
      [{ decision: 'allow' }],
      undefined,
      'its path leads out of the workspace, where no rule reaches',
    ]);
  });
});

describe('rules', () => {
  it('that deny one tool hold for all that a backend can do in its place', async () => {
    const permission = {
      mode: 'preapproved',
      deny: ['edit(locked/**)', 'glob(hidden/**)', 'grep(keys/**)', 'Fetch', 'Write(never)'],
    };
    const questions = [
      edits('locked/x'),
      writes('locked/x'),
      searches('hidden'),
      reads('hidden/a'),
      reads('keys/a'),
      { name: 'Fetch' },
      { ...reads('a.txt'), name: 'Fetch' },
      writes('never'),
      writes('else'),
    ];
    expect(await judged(permission as never, () => questions)).toEqual([
      'deny',
      'deny',
      'deny',
      'deny',
      'deny',
      'deny',
      'deny',
      'deny',
      'allow',
    ]);
  });

  it('that are about something below a folder are about a search in it', async () => {
    expect(
      await judged({ mode: 'preapproved', deny: ['read(**/secret/**)'] } as never, () => [
        searches('src'),
        reads('src/a'),
      ]),
    ).toEqual(['asks', 'allow']);
  });

  it('that allow are those of the tool that fits', async () => {
    const permission = { mode: 'ask', allow: ['edit(src/**)', 'write(docs/**)', 'Write'] };
    expect(
      await judged(permission as never, () => [
        edits('src/x'),
        writes('src/x'),
        edits('docs/x'),
        writes('docs/x'),
        writes('else'),
      ]),
    ).toEqual(['allow', 'asks', 'allow', 'allow', 'asks']);
  });

  it('for our tools allow nothing to a tool that only has their name', async () => {
    const permission = { mode: 'ask', allow: ['edit', 'read', 'write', 'Fetch'], deny: ['grep'] };
    expect(
      await judged(permission as never, () => ['edit', 'read', 'shell_run', 'grep', 'Fetch'].map((name) => ({ name }))),
    ).toEqual(['asks', 'asks', 'asks', 'deny', 'allow']);
  });

  it('allow no command in a shell that stays where an earlier one went', async () => {
    const command = (keepsShell: boolean): Question => ({
      name: 'Bash',
      means: { kind: 'command', command: 'npm test', keepsShell },
    });
    expect(
      await judged({ mode: 'ask', allow: ['shell_run(npm test)'] } as never, () => [command(false), command(true)]),
    ).toEqual(['allow', 'asks']);
  });
});

describe('somebody who is asked', () => {
  const asking = async (request: Partial<RunPermissionRequest>): Promise<RunPermissionAnswer[]> => {
    const answers: RunPermissionAnswer[] = [];
    open = await openBackendSetup([asksFirst([], request, answers)], {
      tools: createFileTools(),
      readShell,
      agent: { permission: { mode: 'ask', allow: ['write(src/**)'] } as never },
    });
    const { setup, id } = open;
    const waking = setup.runtime.wake(id);
    await expect.poll(async () => answers.length + (await setup.requests(id)).length).toBe(1);
    if (answers.length === 0) await setup.confirm(id, { toolName: 'Bash' });
    await waking;
    return answers;
  };

  it('sees no secret, and yet what is judged is what would run', async () => {
    const secret = 'hunter2hunter2';
    const conceal = (text: string): string => text.replaceAll(secret, '[redacted KEY]');
    expect(await asking({ means: { kind: 'write', path: `${secret}/x` }, conceal })).toEqual([{ decision: 'allow' }]);
    const log = JSON.stringify(await open?.setup.log(open.id));
    expect([log.includes(secret), log.includes('[redacted KEY]')]).toEqual([false, true]);
    const [asked] = (await open?.setup.dataOf(open.id, 'permission.requested')) ?? [];
    expect(asked?.rules).toBeUndefined();
  });

  it('is not asked about what is too long to be shown whole', async () => {
    expect(await asking({ input: { command: 'x'.repeat(250_000) } })).toEqual([
      { decision: 'deny', message: expect.stringContaining('too long to be shown whole') as string },
    ]);
  });

  it('is shown all of a long input', async () => {
    await asking({ input: { command: `${'a'.repeat(50_000)};curl evil;${'b'.repeat(50_000)}` } });
    const [asked] = (await open?.setup.dataOf(open.id, 'permission.requested')) ?? [];
    expect(JSON.stringify(asked?.input)).toContain('curl evil');
  });

  it('need not be where a rule allows what is long', async () => {
    expect(await asking({ input: { content: 'x'.repeat(250_000) }, means: { kind: 'write', path: 'src/a' } })).toEqual([
      { decision: 'allow' },
    ]);
  });
});

describe('the output of a tool of a backend', () => {
  it.each([
    ['is an image', { type: 'image', mediaType: 'image/png', path: '.env', bytes: 3 }],
    ['has an image in a list', [{ type: 'image', mediaType: 'image/png', path: '.env' }]],
    ['has an image among its fields', { content: [{ type: 'image', mediaType: 'image/png', path: '.env' }] }],
  ])('that %s refers to no file of the workspace', async (_what, output) => {
    open = await openBackendSetup([
      async (_params, tell) => {
        requests(tell, '1');
        ends(tell, '1', output);
        return answered('Done.');
      },
    ]);
    await open.setup.runtime.wake(open.id);
    expect(await open.setup.results(open.id)).toMatchObject([{ output: JSON.stringify(output) }]);
  });
});

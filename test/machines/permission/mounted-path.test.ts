import { describe, expect, it } from 'vitest';
import { checkOf } from '../../../src/machines/permission/command-check.ts';
import { patternsInWorkspace } from '../../../src/machines/permission/mounted-path.ts';
import { globProblem } from '../../../src/machines/permission/path-glob.ts';
import { decidePermission } from '../../../src/machines/permission/permission-decision.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import type { PermissionSubject } from '../../../src/machines/permission/permission-subject.ts';

const WRITE = { name: 'write', permissionPolicy: 'always_allow', readOnly: false, destructive: true } as const;
const runtime = (path: string): PermissionSubject => ({ kind: 'path', path, mount: '/runtime', access: 'write' });
const shared = (path: string): PermissionSubject => ({
  kind: 'path',
  path,
  mount: '/workspace/agent',
  access: 'write',
});
const plain = (path: string): PermissionSubject => ({ kind: 'path', path, access: 'write' });

const decide = (subject: PermissionSubject, rules: readonly string[], mode: 'ask' | 'preapproved' = 'ask') =>
  decidePermission({
    definition: WRITE,
    subject,
    workspaceDirectory: '/ws/project',
    mode,
    policy: rules.map((rule) => parseRule(rule)),
    sessionRules: [],
    humans: 'reachable',
  });

describe('a rule that allows', () => {
  it.each<[string, PermissionSubject, boolean]>([
    ['allow write(/runtime/**)', runtime('/runtime/a/b.md'), true],
    ['allow write(/runtime/*.md)', runtime('/runtime/b.md'), true],
    ['allow write(/runtime/*.md)', runtime('/runtime/a/b.md'), false],
    ['allow write(/runtime/**)', plain('runtime/a.md'), false],
    ['allow write(/runtime/**)', plain('/runtime/a.md'), false],
    ['allow write(runtime/**)', runtime('/runtime/a.md'), false],
    ['allow write(**)', runtime('/runtime/a.md'), false],
    ['allow write(a.md)', runtime('/runtime/a.md'), false],
    ['allow write', runtime('/runtime/a.md'), true],
    ['allow write', runtime('/runtime/.git/config'), false],
    ['allow write(/runtime/**)', runtime('/runtime/.git/config'), false],
    ['allow write(/workspace/src/**)', plain('/ws/project/src/a.ts'), true],
    ['allow write(/workspace/src/**)', plain('src/a.ts'), true],
    ['allow write(/ws/project/src/**)', plain('/ws/project/src/a.ts'), false],
    ['allow write(/RUNTIME/**)', runtime('/runtime/a.md'), false],
  ])('%s: %j is allowed: %s', (rule, subject, isAllowed) => {
    expect(decide(subject, [rule]).decision).toBe(isAllowed ? 'allow' : 'ask');
  });
});

describe('a rule that denies', () => {
  it.each<[string, PermissionSubject, 'deny' | 'allow' | 'ask']>([
    ['deny write(/runtime/**)', runtime('/runtime/a.md'), 'deny'],
    ['deny write(/Runtime/secret/*)', runtime('/runtime/Secret/a.md'), 'deny'],
    ['deny write(/runtime/secret/*)', runtime('/runtime/a.md'), 'allow'],
    ['deny write(**)', runtime('/runtime/a.md'), 'deny'],
    ['deny write(**/*.pem)', runtime('/runtime/keys/a.pem'), 'deny'],
    ['deny write(config/**)', runtime('/runtime/config/a'), 'allow'],
    ['deny write(agent/**)', shared('/workspace/agent/MEMORY.md'), 'deny'],
    ['deny write(/workspace/**)', shared('/workspace/agent/MEMORY.md'), 'deny'],
    ['deny write(/workspace/src/**)', plain('/ws/project/src/a.ts'), 'deny'],
    ['deny write(/ws/project/src/**)', plain('src/a.ts'), 'deny'],
    ['deny write(/runtime/**)', plain('src/a.ts'), 'allow'],
    ['deny write', runtime('/runtime/a.md'), 'deny'],
  ])('%s: %j is answered with %s', (rule, subject, decision) => {
    expect(decide(subject, [rule], 'preapproved').decision).toBe(decision);
  });

  it('holds for commands that read too, by each name of the workspace', () => {
    const check = (rule: string) => {
      const reading = { kind: 'commands', commands: [{ argv: ['cat', 'a.txt'] }] } as const;
      const question = {
        definition: { ...WRITE, name: 'shell_run' },
        subject: { kind: 'shell', command: 'cat a.txt', cwd: '/ws/project' },
        reading,
        workspaceDirectory: '/ws/project',
        mode: 'ask',
        policy: [parseRule(rule)],
        sessionRules: [],
        humans: 'reachable',
      } as const;
      const decision = decidePermission(question);
      return { decision: decision.decision, forbidden: checkOf(question, decision)?.forbidden };
    };
    expect(check('deny read(/workspace/secret/**)')).toEqual({ decision: 'allow', forbidden: ['secret/**'] });
    expect(check('deny read(/runtime/**)')).toEqual({ decision: 'allow', forbidden: [] });
    expect(check('deny read(/workspace/*.txt)').decision).toBe('ask');
    expect(check('deny read(/ws/project/a.txt)').decision).toBe('ask');
    expect(patternsInWorkspace('/ws/**/x', '/ws/project')).toEqual(['**']);
  });
});

describe('a pattern that begins with a slash', () => {
  it('names something below a mount', () => {
    for (const glob of ['/runtime/**', '/workspace/agent/*.md', '/data/x', '/memory/learnings/**'])
      expect(globProblem(glob)).toBeUndefined();
    for (const glob of [
      '/',
      '/**',
      '/*/x',
      '/runtime',
      '/runtime/',
      '//runtime/x',
      '/runtime//x',
      '/runtime/../x',
      '/etc/**',
      '/proc/self/x',
      '/vaults/github/**',
      '/tmp/x',
      '/Etc/x',
    ])
      expect(globProblem(glob)).toEqual(expect.any(String));
  });

  it('is what a question about a mount suggests', () => {
    expect(decide(runtime('/runtime/notes/a.md'), [])).toMatchObject({
      decision: 'ask',
      suggestions: [{ effect: 'allow', tool: 'write', pathGlob: '/runtime/notes/a.md' }],
    });
    expect(decide({ ...runtime('/runtime'), reachesBelow: true } as PermissionSubject, [])).toMatchObject({
      suggestions: [{ pathGlob: '/runtime/**' }],
    });
    for (const path of ['/runtime/.env', '/runtime/.git/config', '/runtime/a*b'])
      expect(decide(runtime(path), [])).toMatchObject({ suggestions: [] });
  });
});

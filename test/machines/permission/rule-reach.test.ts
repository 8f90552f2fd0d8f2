import { describe, expect, it } from 'vitest';
import { decidePermission, unsafe } from '../../../src/machines/permission/permission-decision.ts';
import type { PermissionDecision, PermissionQuestion } from '../../../src/machines/permission/permission-decision.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { SHELL_RUN, decideLine } from './shell-questions.ts';

type Mode = PermissionQuestion['mode'];

interface Call {
  readonly tool: string;
  readonly rule: string;
  readonly mode?: Mode;
  readonly subject?: PermissionQuestion['subject'];
}

function decide({
  tool,
  rule,
  mode = 'preapproved',
  subject = { kind: 'tool' },
}: Call): PermissionDecision['decision'] {
  return decidePermission({
    definition: { name: tool, permissionPolicy: 'always_allow', readOnly: false, destructive: true },
    subject,
    workspaceDirectory: '/ws',
    mode,
    policy: [parseRule(rule)],
    sessionRules: [],
    humans: 'reachable',
  }).decision;
}

const onPath = (tool: string, rule: string, path = 'plan.txt'): PermissionDecision['decision'] =>
  decide({ tool, rule, subject: { kind: 'path', path, access: 'read' } });
const shellExec = { ...SHELL_RUN, name: 'shell_exec' };

describe('a rule that denies commands of shell_run', () => {
  it('denies them to every other tool that takes commands', () => {
    expect(
      decideLine('git push', {
        definition: shellExec,
        isolated: false,
        mode: 'preapproved',
        policy: ['deny shell_run(git push)'],
      }).decision,
    ).toBe('deny');
    expect(
      decideLine('git push', {
        definition: shellExec,
        isolated: false,
        mode: 'preapproved',
        policy: ['ask shell_run(git push)'],
      }).decision,
    ).toBe('ask');
    expect(
      decideLine('make', {
        definition: shellExec,
        isolated: false,
        mode: 'preapproved',
        policy: ['deny shell_run(git push)'],
      }).decision,
    ).toBe('ask');
    expect(
      decideLine('ls', { definition: shellExec, isolated: false, mode: 'preapproved', policy: ['deny shell_run'] })
        .decision,
    ).toBe('deny');
  });

  it('says nothing about calls of those tools that are no commands, and all when it is about the tool', () => {
    for (const tool of ['shell_close', 'shell_wait', 'shell_open', 'shell_set_env']) {
      expect(decide({ tool, rule: 'deny shell_run(git push)' })).toBe('allow');
      expect(decide({ tool, rule: 'deny shell_run' })).toBe('deny');
    }
  });

  it('is not to be got round by the rules of another tool', () => {
    expect(decideLine('git push', { mode: 'preapproved', policy: ['deny shell_exec(git push)'] }).decision).toBe('ask');
    expect(decideLine('make', { mode: 'preapproved', policy: ['deny shell_exec'] }).decision).toBe('allow');
  });
});

describe('a rule that allows', () => {
  it('is for its own tool', () => {
    expect(decideLine('npm test', { definition: shellExec, policy: ['allow shell_run(npm test)'] }).decision).toBe(
      'ask',
    );
    expect(
      decide({
        tool: 'edit',
        rule: 'allow write(**)',
        mode: 'ask',
        subject: { kind: 'path', path: 'a', access: 'write' },
      }),
    ).toBe('ask');
  });
});

describe('a rule about paths', () => {
  it.each<readonly [tool: string, rule: string, expected: string]>([
    ...['read', 'grep', 'glob', 'edit'].map((tool) => [tool, 'deny read(plan.txt)', 'deny'] as const),
    ['write', 'deny read(plan.txt)', 'allow'],
    ...['write', 'edit'].map((tool) => [tool, 'deny write(plan.txt)', 'deny'] as const),
    ...['read', 'grep', 'glob'].map((tool) => [tool, 'deny write(plan.txt)', 'allow'] as const),
    ['write', 'deny edit(plan.txt)', 'allow'],
    ['read', 'ask read(plan.txt)', 'ask'],
    ['glob', 'deny read', 'deny'],
    ['edit', 'ask write', 'ask'],
    ['docs__read', 'deny read', 'allow'],
  ])('holds for %s under %s: %s', (tool, rule, expected) => {
    expect(onPath(tool, rule)).toBe(expected);
  });

  it('lets no command line run unasked that may break it, whatever the mode is', () => {
    for (const rule of [
      'deny write(config/**)',
      'deny read(plan.txt)',
      'ask write',
      'deny read',
      'deny edit',
      'deny grep(x)',
      'deny docs__search(x)',
    ]) {
      expect(decideLine('make', { mode: 'preapproved', policy: [rule] })).toMatchObject({
        decision: 'ask',
        because: expect.stringContaining(`a rule forbids something that this may do ("${rule}")`),
      });
      expect(decideLine('make', { mode: 'preapproved', policy: [rule, 'allow shell_run(make $)'] }).decision).toBe(
        'allow',
      );
      expect(decideLine('echo $x', { mode: 'preapproved', policy: [rule] }).decision).toBe('ask');
    }
    for (const rule of ['deny docs__search', 'allow write(a)'])
      expect(decideLine('make', { mode: 'preapproved', policy: [rule] }).decision).toBe('allow');
    expect(decideLine('cat a.txt', { mode: 'preapproved', policy: ['deny read'] }).decision).toBe('ask');
  });

  it('is held against what a command reads from where it runs', () => {
    const policy = ['deny read(sub/plan.txt)'];
    expect(decideLine('cat plan.txt', { cwd: '/ws/sub', policy }).decision).toBe('ask');
    expect(decideLine('cat plan.txt', { cwd: '/ws/other', policy }).decision).toBe('allow');
    expect(decideLine('rg foo', { cwd: '/ws/other', policy }).decision).toBe('allow');
    expect(decideLine('git log -p', { cwd: '/ws/other', policy }).decision).toBe('ask');
  });
});

describe('what turns out not to be safe', () => {
  it('asks for this time only, and is denied where nobody can be asked', () => {
    expect(unsafe({ humans: 'reachable' }, 'a link')).toEqual({
      decision: 'ask',
      because: 'no rule allows it: a link',
      suggestions: [],
    });
    expect(unsafe({ humans: 'none' }, 'a link')).toMatchObject({ decision: 'deny', by: 'unattended' });
  });
});

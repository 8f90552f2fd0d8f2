import { describe, expect, it } from 'vitest';
import { bothOf, handDown, holdsAll, isTakenAway, ownBounds } from '../../../src/machines/permission/handed-down.ts';
import type { Restriction } from '../../../src/machines/session/event-parts.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';

const OPEN = { mode: 'preapproved', ask: [], deny: [] } as const;
const BOUND = {
  mode: 'ask' as const,
  ask: ['write'],
  deny: ['shell_run(touch)'],
  tools: ['read', 'write'],
  withoutTools: ['edit'],
};

describe('what is handed down to whoever works for a session', () => {
  it('is all of its agent, of what was narrowed, and of whoever it works for', () => {
    const session = { narrowing: { tools: ['read', 'grep'], withoutTools: ['glob'] }, restriction: BOUND };
    expect(ownBounds(session, { mode: 'preapproved', ask: ['check'], deny: ['launch'] })).toEqual({
      mode: 'ask',
      ask: ['check', 'write'],
      deny: ['launch', 'shell_run(touch)'],
      tools: ['read'],
      withoutTools: ['edit', 'glob'],
    });
    expect(ownBounds({}, OPEN)).toEqual(OPEN);
  });

  it('is the environments that it works in, and those that bind it already', () => {
    const bound = { ...OPEN, ask: [], deny: [], environments: ['first'] };
    const environmentsOf = (restriction: Restriction | undefined, environments: string[]): unknown =>
      handDown({ session: { restriction }, permission: OPEN, environments, policy: [] }).environments;
    expect(environmentsOf(bound, ['second'])).toEqual(['second', 'first']);
    expect(environmentsOf(bound, ['first'])).toEqual(['first']);
    expect(environmentsOf(undefined, ['only'])).toEqual(['only']);
    expect(handDown({ session: {}, permission: OPEN, environments: [], policy: [] })).toEqual(OPEN);
    expect(
      handDown({
        session: { restriction: bound },
        permission: OPEN,
        environments: ['second'],
        policy: { error: 'torn' },
      }).environments,
    ).toEqual(['second', 'first']);
  });

  it('is what the policy denies and asks besides', () => {
    const policy = ['allow check', 'deny shell_run(rm)', 'ask write(a/**)'].map((rule) => parseRule(rule));
    expect(handDown({ session: {}, permission: { ...OPEN, deny: ['x'] }, environments: [], policy })).toEqual({
      mode: 'preapproved',
      ask: ['write(a/**)'],
      deny: ['x', 'shell_run(rm)'],
    });
  });

  it('asks for everything where the policy cannot be read, and never loosens a stricter mode', () => {
    const modeFrom = (mode: Restriction['mode']): unknown =>
      handDown({ session: {}, permission: { ...OPEN, mode }, environments: [], policy: { error: 'torn' } }).mode;
    expect(modeFrom('preapproved')).toBe('ask');
    expect(modeFrom('deny')).toBe('deny');
  });

  it('is that nobody can be asked, however deep', () => {
    const child = handDown({
      session: { narrowing: { humans: 'none' } },
      permission: OPEN,
      environments: [],
      policy: [],
    });
    expect(child.humans).toBe('none');
    expect(handDown({ session: { restriction: child }, permission: OPEN, environments: [], policy: [] }).humans).toBe(
      'none',
    );
    expect(holdsAll({ ...BOUND }, { ...BOUND, humans: 'none' })).toBe(false);
  });

  it('is, of two restrictions, what either forbids', () => {
    const both = bothOf(
      { ...BOUND, environments: ['one'] },
      { mode: 'deny', ask: ['check'], deny: [], tools: ['read', 'grep'], humans: 'none', environments: ['two'] },
    );
    expect(both).toEqual({
      mode: 'deny',
      ask: ['check', 'write'],
      deny: ['shell_run(touch)'],
      tools: ['read'],
      withoutTools: ['edit'],
      humans: 'none',
      environments: ['two', 'one'],
    });
  });
});

describe('a tool', () => {
  it.each<[readonly string[], object, boolean]>([
    [['read'], {}, false],
    [['read'], { withoutTools: ['read'] }, true],
    [['shell_run', 'shell_exec', 'Bash'], { withoutTools: ['Bash'] }, true],
    [['read'], { tools: ['write'] }, true],
    [['read'], { tools: ['read'] }, false],
    [['write', 'edit'], { tools: ['edit'] }, true],
  ])('%j is taken away by %j: %s', (names, bounds, is) => {
    expect(isTakenAway(names, bounds)).toBe(is);
  });
});

describe('what holds for a session', () => {
  it.each<[object | undefined, boolean]>([
    [BOUND, true],
    // A rule that denies stands in for the same rule that asks.
    [{ ...BOUND, mode: 'deny', tools: ['read'], deny: ['shell_run(touch)', 'write'], ask: [] }, true],
    [{ ...BOUND, ask: [] }, false],
    [{ ...BOUND, mode: 'deny', tools: ['read'], deny: [...BOUND.deny, 'write'] }, true],
    [undefined, false],
    [{ ...BOUND, mode: 'preapproved' }, false],
    [{ ...BOUND, deny: [] }, false],
    [{ ...BOUND, withoutTools: undefined }, false],
    [{ ...BOUND, tools: undefined }, false],
    [{ ...BOUND, tools: ['read', 'write', 'glob'] }, false],
  ])('%j forbids all that the bounds do: %s', (held, does) => {
    expect(holdsAll(held as Restriction | undefined, BOUND)).toBe(does);
  });

  it.each<[readonly string[] | undefined, boolean]>([
    [['sandboxed', 'host'], true],
    [['sandboxed'], true],
    [['host'], false],
    [undefined, false],
  ])('has to be bound by the environments that bind: %j does, %s', (environments, does) => {
    const held = { ...BOUND, ...(environments === undefined ? {} : { environments: [...environments] }) };
    expect(holdsAll(held, { ...BOUND, environments: ['sandboxed'] })).toBe(does);
  });
});

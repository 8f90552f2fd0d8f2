/** Requests of many sessions, the same together. */
import { describe, expect, it } from 'vitest';
import type { ShownRequest } from '../../../src/actors/inspection/shown-answers.ts';
import { groupsIn, groupsOf } from '../../../src/adapters/inspector-page/sessions/many-sessions.ts';
import type { AskedOne } from '../../../src/adapters/inspector-page/sessions/many-sessions.ts';

function asked(sessionId: string, request: Partial<ShownRequest> = {}, folder?: string): AskedOne {
  return {
    sessionId,
    name: sessionId,
    request: {
      requestId: `r ${sessionId}`,
      callId: 'c',
      kind: 'permission',
      toolName: 'deploy',
      parts: [{ name: 'command', text: 'deploy', isShort: true }],
      choices: [],
      warnings: [],
      ...request,
    } as ShownRequest,
    folder,
  };
}

describe('requests of many sessions', () => {
  it('stand together where a person reads the same, in whichever folder', () => {
    const groups = groupsOf([asked('a', {}, '/a'), asked('b', {}, '/b'), asked('c', { expiresAt: 'later' })]);
    expect(groups.map(({ members }) => members.map(({ sessionId }) => sessionId))).toEqual([['a', 'b', 'c']]);
  });

  it('hold no session that is ticked no more', () => {
    const groups = groupsOf([asked('a'), asked('b'), asked('c', { toolName: 'other' })]);
    const left = groupsIn(groups, [{ sessionId: 'b' }]);
    expect(left.map(({ members }) => members.map(({ sessionId }) => sessionId))).toEqual([['b']]);
    expect(groupsIn(groups, [])).toEqual([]);
  });

  it.each<Partial<ShownRequest>>([
    { toolName: 'shell_run' },
    { kind: 'custom_tool' },
    { parts: [{ name: 'command', text: 'deploy ', isShort: true }] },
    { parts: [] },
    { because: 'another reason' },
    { rules: ['deploy(*)'] },
    { warnings: ['odd'] },
    { isPartial: true },
  ])('stand apart where anything of it differs: %j', (other) => {
    expect(groupsOf([asked('a'), asked('b', other)])).toHaveLength(2);
  });
});

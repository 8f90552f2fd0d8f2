/** How sessions are listed, what commands look like, what is written out of texts that are to be judged, and processes as trees. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InspectedProcess, InspectedSessionSummary } from '../../../src/actors/inspection/inspection-source.ts';
import { commandLine } from '../../../src/adapters/inspector-page/sessions/command-line.ts';
import { partsOf } from '../../../src/adapters/inspector-page/sessions/data-parts.ts';
import { exact, oddities } from '../../../src/adapters/inspector-page/sessions/exact-text.ts';
import { treeOfProcesses } from '../../../src/adapters/inspector-page/sessions/process-tree.ts';
import type { ProcessBranch } from '../../../src/adapters/inspector-page/sessions/process-tree.ts';
import { matching, ordered, wordsOf } from '../../../src/adapters/inspector-page/sessions/session-words.ts';

function session(sessionId: string, changes: Partial<InspectedSessionSummary> = {}): InspectedSessionSummary {
  return { sessionId, agentId: 'fixer', status: 'idle', stopReason: 'idle', pendingActions: 0, ...changes };
}

describe('sessions in a list', () => {
  it('are ordered: those that wait for somebody, then those that changed last', () => {
    const all = [session('old', { updatedAt: '2026-01-01T00:00:00.000Z' }), session('new', { updatedAt: '2026-01-02T00:00:00.000Z' }), session('waits', { pendingActions: 1 }), session('over', { pendingActions: 1, status: 'terminated' })];
    expect(ordered(all).map(({ sessionId }) => sessionId)).toEqual(['waits', 'new', 'old', 'over']);
  });

  it.each([
    [session('s', { why: { kind: 'permission', text: '' }, pendingActions: 1 }), 'waits for your permission'],
    [session('s', { why: { kind: 'unreadable', text: '' } }), 'cannot be read'],
    [session('s', { pendingActions: 1 }), 'waits for you'],
    [session('s', { stopReason: 'requires_action' }), 'waits for another agent'],
    [session('s', { status: 'running' }), 'runs'],
    [session('s', { status: 'terminated' }), 'is terminated'],
    [session('s'), 'rests'],
  ])('say how they stand', (summary, text) => {
    expect(wordsOf(summary).text).toBe(text);
  });

  it('are found by every word that they say', () => {
    const all = [session('a', { title: 'Mend the cart' }), session('b', { status: 'running' })];
    expect(matching(all, 'CART fix').map(({ sessionId }) => sessionId)).toEqual(['a']);
    expect(matching(all, 'runs').map(({ sessionId }) => sessionId)).toEqual(['b']);
    expect(matching(all, '  ')).toEqual(all);
  });
});

describe('a command', () => {
  it('is quoted as a shell takes it', () => {
    expect(commandLine(['session', 'answer', '--text', "it's", '$(rm)'])).toBe(String.raw`wakechart session answer --text 'it'\''s' '$(rm)'`);
  });
});

describe('what somebody has to judge', () => {
  it('hides nothing', () => {
    expect(exact('a\u202Eb\u200B  \n\u0007')).toBe(String.raw`a\u{202E}b\u{200B}··` + '\n' + String.raw`\u{0007}`);
    expect(oddities('plain\n\ttext')).toBeUndefined();
    expect(oddities('pаy')).toBe('It holds characters beyond plain ASCII: а (U+0430).');
  });

  it('is told part by part, whatever it is', () => {
    expect(partsOf({ command: 'ls', exitCode: 0 })).toEqual([{ name: 'command', text: 'ls', isShort: false }, { name: 'exitCode', text: '0', isShort: true }]);
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      for (const { name, text } of partsOf(value)) expect([typeof name, typeof text]).toEqual(['string', 'string']);
    }));
  });
});

describe('processes', () => {
  const countOf = (branches: readonly ProcessBranch[]): number => branches.reduce((sum, { children }) => sum + 1 + countOf(children), 0);

  it('are each in the tree once, whoever is said to be under whom', () => {
    const process = fc.record({ pid: fc.integer({ min: 1, max: 6 }), parentPid: fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined }) });
    fc.assert(fc.property(fc.array(process), (all) => {
      const processes = all.map((each): InspectedProcess => ({ ...each, title: 'x', state: 'running' }));
      expect(countOf(treeOfProcesses(processes))).toBe(processes.length);
    }));
  });

  it('are under the one that they are shown under', () => {
    const [root] = treeOfProcesses([{ pid: 2, parentPid: 1, title: 'test', state: 'running' }, { pid: 1, title: 'worker', state: 'running' }]);
    expect([root?.process.pid, root?.children.map(({ process }) => process.pid)]).toEqual([1, [2]]);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TELLING_LIMIT_MS } from '../../src/testing/expectations.ts';
import { agentRuntimeContract } from '../../src/testing.ts';
import type { AgentRuntimeCase, AgentRuntimeUnderTest } from '../../src/testing.ts';
import { brokenSteps, brokenTurns } from '../contracts/broken-runtimes.ts';
import { PLAYED_OPTIONS, openPlayed } from '../contracts/played-runtime.ts';
import type { Flaw } from '../contracts/played-runtime.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

type Kind = 'step' | 'turn';

const contractOf = (kind: Kind, flaw?: Flaw, left?: readonly string[]): readonly AgentRuntimeCase[] =>
  agentRuntimeContract(() => openPlayed(kind, flaw, left), PLAYED_OPTIONS[kind]);

/** What a case failed with, without waiting for real until somebody who is silent has been silent for long enough. */
async function failureOf({ run }: Pick<AgentRuntimeCase, 'run'>): Promise<string | undefined> {
  let isOver = false;
  const ended = run().then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  void ended.then(() => {
    isOver = true;
  });
  for (let turn = 0; !isOver; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    // Whoever has something to tell has had the time to by then.
    if (turn > 200) await vi.advanceTimersByTimeAsync(TELLING_LIMIT_MS);
  }
  return ended;
}

async function failuresOf(cases: readonly AgentRuntimeCase[]): Promise<Map<string, string>> {
  const failures = new Map<string, string>();
  for (const each of cases) {
    const failure = await failureOf(each);
    if (failure !== undefined) failures.set(each.name, failure);
  }
  return failures;
}

async function findingOf(kind: Kind, sentence: string, flaw: Flaw): Promise<string> {
  const [finder, ...others] = contractOf(kind, flaw).filter(({ name }) => name.includes(sentence));
  if (finder === undefined || others.some(({ name }) => name !== `${finder.name}_permanent`))
    throw new Error(
      `expected one case whose name has "${sentence}", found ${finder === undefined ? 0 : 1 + others.length}`,
    );
  return (await failureOf(finder)) ?? 'it found nothing';
}

describe('the contract of backends', () => {
  it.each<Kind>(['step', 'turn'])('has a sentence of its own for every case of a %s', (kind) => {
    const names = contractOf(kind).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(30);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^a backend [a-z].{10,}[a-z\d]$/);
  });

  it.each<Kind>(['step', 'turn'])(
    'has nothing to say about a sound backend of a %s, skips nothing, and leaves no timer',
    async (kind) => {
      const cases = contractOf(kind);
      expect(await failuresOf(cases)).toEqual(new Map());
      expect(cases.filter(({ skipped }) => skipped !== undefined)).toEqual([]);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('finds what is left behind', async () => {
    const failures = await failuresOf(contractOf('turn', undefined, ['a process']));
    expect([...failures.keys()].filter((name) => name.includes('leaves nothing behind')).length).toBeGreaterThan(7);
  });

  it('closes each subject once, however the case ends', async () => {
    const closed: string[] = [];
    const open = async (): Promise<AgentRuntimeUnderTest> => ({
      ...(await openPlayed('step', () => ({ run: () => Promise.reject(new Error('broken')) }))),
      close: () => Promise.resolve(void closed.push('closed')),
    });
    const cases = agentRuntimeContract(open, PLAYED_OPTIONS.step);
    const failures = await failuresOf(cases);
    expect(failures.size).toBeGreaterThan(30);
    expect(closed).toHaveLength(cases.length);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a situation that a backend', () => {
  it('does not know is named with the reason, and its cases can be counted', async () => {
    const cases = agentRuntimeContract(() => Promise.reject(new Error('opened')), {
      ...PLAYED_OPTIONS.step,
      cannot: { reasons: 'it does not think', heard: 'it is deaf' },
    });
    const skipped = cases.filter((each) => each.skipped !== undefined);
    expect(skipped.map((each) => each.skipped)).toEqual(['reasons: it does not think', 'heard: it is deaf']);
    await expect(Promise.all(skipped.map((each) => each.run()))).resolves.toBeDefined();
  });

  it('neither offers nor names makes its cases fail', async () => {
    const open = async (): Promise<AgentRuntimeUnderTest> => ({ ...(await openPlayed('step')), situations: {} });
    const failures = await failuresOf(agentRuntimeContract(open, PLAYED_OPTIONS.step));
    expect(failures.size).toBeGreaterThan(30);
    expect([...new Set(failures.values())]).toEqual(
      expect.arrayContaining([
        'the situations that this case needs: expected each to be offered, or named in `cannot` with the reason, received {"missing":["answers"]}',
      ]),
    );
  });

  it('offers and names all the same is found', async () => {
    const [declared] = agentRuntimeContract(() => openPlayed('step'), {
      ...PLAYED_OPTIONS.step,
      cannot: { reasons: 'no' },
    });
    expect(await failureOf(declared ?? { run: () => Promise.resolve() })).toContain('received ["reasons"]');
  });

  it('cannot be to fail in no way at all', async () => {
    const [declared] = agentRuntimeContract(() => openPlayed('step'), { runs: 'step', failures: [] });
    expect(await failureOf(declared ?? { run: () => Promise.resolve() })).toContain('whether it can fail');
  });
});

const FOUND =
  /expected .+, received |what was received \(\+\) is not what was expected|failed|no messages|thrown by a listener|unknown|denied|the id was used before/s;

describe('a backend of steps that', () => {
  it.each(brokenSteps)('%s is found: %s', async (_flaw, sentence, flaw) => {
    expect(await findingOf('step', sentence, flaw)).toMatch(FOUND);
  });
});

describe('a backend of turns that', () => {
  it.each(brokenTurns)('%s is found: %s', async (_flaw, sentence, flaw) => {
    expect(await findingOf('turn', sentence, flaw)).toMatch(FOUND);
  });
});

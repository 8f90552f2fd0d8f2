/**
 * What a wake on files asks of the system, counted: docs/performance.md says for what. A change that adds a call has to
 * say so there.
 */
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntime } from '../../src/node.ts';
import { costsOf, countCalls, countNoMore } from '../support/counted-calls.ts';
import type { Costs } from '../support/counted-calls.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

const LONG_AGO = new Date(0);
const WARM_UP = 3;

let home: TemporaryHome;
let runtime: NodeRuntime;

beforeAll(countCalls);
afterAll(countNoMore);
beforeEach(async () => {
  home = await temporaryHome();
  runtime = await createNodeRuntime({ home: home.path });
});
afterEach(async () => {
  await runtime.shutdown();
  await home.remove();
});

/** Of one more wake, with the message before it, of an agent whose files have rested. */
async function costsOfWake(steps: readonly object[]): Promise<Costs> {
  await runtime.agents.create({
    agentId: 'echo',
    source: { frontmatter: { name: 'Echo', provider: 'script', model: 'echo.json' }, instructions: '' },
  });
  const folder = join(home.path, 'agents/echo');
  await writeFile(
    join(folder, 'echo.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps, onEnd: 'repeat-last' }),
  );
  for (const name of ['agent.md', 'echo.json']) await utimes(join(folder, name), LONG_AGO, LONG_AGO);
  const { sessionId } = await runtime.sessions.create({ agentId: 'echo' });
  const once = async (): Promise<void> => {
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go on.' });
    expect(await runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep' });
  };
  for (let count = 0; count < WARM_UP; count += 1) await once();
  return costsOf(once);
}

function countOf({ atOnce }: Costs, name: string): number {
  return atOnce.filter((each) => each === name).length;
}

describe('a wake that calls nothing, with the message before it', () => {
  it('has another thread wait for the disk once for each record that it stores, and for nothing else', async () => {
    const costs = await costsOfWake([{ text: 'Heard.' }]);
    expect(costs.passedOn).toBe(5);
  });

  it('writes its records, how far the log goes after each, and one view; no file is made, moved or locked beside the hint', async () => {
    const costs = await costsOfWake([{ text: 'Heard.' }]);
    expect(countOf(costs, 'write')).toBe(5 + 5 + 1);
    expect({ link: countOf(costs, 'link'), unlink: countOf(costs, 'unlink') }).toEqual({ link: 1, unlink: 1 });
    for (const name of ['rename', 'mkdir', 'fsync', 'ftruncate']) expect(countOf(costs, name)).toBe(0);
  });

  it('makes at most sixty-four calls, and two for each time that the system tells of the log', async () => {
    const costs = await costsOfWake([{ text: 'Heard.' }]);
    // The system tells of several writes at once or of each: that depends on the machine, what one telling costs does
    // not.
    const told = countOf(costs, 'exists');
    expect(costs.atOnce.length + costs.passedOn - 2 * told).toBeLessThanOrEqual(64);
    expect(told).toBeLessThanOrEqual(5);
  });
});

/** Workers of a home that were not given the code in which an agent is defined. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { createAgentRuntime, defineAgent } from '../../src/index.ts';
import { messageOf } from '../../src/machines/errors.ts';
import { TAKEN_MS } from '../../src/machines/session/session-activations.ts';
import { createNodeRuntime } from '../../src/node.ts';
import { createHomeSource } from '../../src/node/inspector.ts';
import type { NodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { records } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { runInProcess } from './in-process.ts';

const backends = [
  createAgentRuntime({
    id: 'mine',
    answer: async (_request, voice) => {
      voice.say('It is noon.');
      return { meta: { modelSteps: 1 } };
    },
  }),
];
const agents = [defineAgent({ id: 'clock', model: 'mine/any', instructions: 'Say when.' })];

let home: TemporaryHome;
let given: NodeRuntime;
beforeEach(async () => {
  home = await temporaryHome();
  given = await createNodeRuntime({ home: home.path, agents, backends, environments: { tower: { sandbox: 'off' } } });
});
afterEach(async () => {
  await given.shutdown();
  await home.remove();
});

const run = (...words: readonly string[]): Promise<Ended> =>
  runInProcess([...words, '--config', 'none', '--home', home.path]);

async function asked(agentId = 'clock', environmentId?: string): Promise<string> {
  const { sessionId } = await given.sessions.create({ agentId, environmentId });
  await given.sessions.send(sessionId, { type: 'user.message', text: 'When?' });
  return sessionId;
}

it('leave its sessions to those that were given it, store nothing, and say so once, with what to do', async () => {
  const ids = [await asked(), await asked()];
  const { code, stdout } = await run('worker', '--until-idle');
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringContaining(
      'Nothing else is due. 0 wakes went well, 0 failed. 2 sessions left undone: this worker lacks what they need.',
    ),
  });
  expect(stdout.match(/there is no agent "clock" in the home, or in the code that this one was given/g)).toHaveLength(
    1,
  );
  expect(stdout).toContain('comes with --config FILE');
  for (const id of ids) expect(await given.sessions.get(id)).toMatchObject({ head: 2, failuresInARow: 0 });
  expect((await run('wake', '--session', ids[0] ?? '')).stderr).toContain('[WAKE_ELSEWHERE]');
  const why = (await run('session', 'why', '--session', ids[0] ?? '')).stdout;
  expect(why).toMatch(/^ +• There is no agent "clock"[^]*agents\/clock[^]*worker --config FILE[^]*• 1 message/m);
  expect(why).not.toMatch(/none runs|wake --session/);
  expect((await run('session', 'status', '--session', ids[0] ?? '')).stdout).toMatch(/agent +clock \(missing here/);
  expect((await run('session', 'list')).stdout).toContain('idle, agent missing');
  const examined = await run('doctor');
  expect(examined.code).toBe(1);
  expect(examined.stdout).toMatch(/clock: 2 sessions with something to do, and no such agent/);
  for (const id of ids) expect(examined.stdout).toContain(id);
  expect(await given.wake(ids[0] ?? '')).toMatchObject({ summary: 'It is noon.' });
});

it('leave sessions that work in an environment in code, too', async () => {
  await given.agents.create({
    agentId: 'keeper',
    source: { frontmatter: { name: 'Keeper', provider: 'script', model: 'script.json' }, instructions: 'Play.' },
  });
  const script = { format: 'wakechart-script/1', steps: [{ directive: { outcome: 'sleep', summary: 'Kept.' } }] };
  await writeFile(join(home.path, 'agents/keeper/script.json'), JSON.stringify(script));
  const id = await asked('keeper', 'tower');
  const { code, stdout } = await run('worker', '--until-idle', '--log', 'json');
  expect(code).toBe(1);
  expect(records(stdout)).toContainEqual(
    expect.objectContaining({ level: 'warn', event: 'wake.contended', session: id, code: 'WAKE_ELSEWHERE' }),
  );
  expect(await given.sessions.get(id)).toMatchObject({ head: 2 });
  const why = (await run('session', 'why', '--session', id)).stdout;
  expect(why).toMatch(/^ +• There is no environment "tower"[^]*environments\/tower\.yaml[^]*worker --config FILE/m);
  expect(why).not.toMatch(/none runs|wake --session/);
  expect(JSON.parse((await run('session', 'why', '--session', id, '--json')).stdout)).toMatchObject({
    environmentMissingHere: 'tower',
    reasons: [{ kind: 'environment_missing' }, { kind: 'unread' }],
  });
  expect((await run('session', 'status', '--session', id)).stdout).toMatch(/environment +tower \(missing here/);
  expect((await run('session', 'list')).stdout).toContain('idle, environment missing');
  expect((await run('doctor')).stdout).toMatch(/tower: 1 session with something to do, and no such environment/);
  expect(await given.wake(id)).toMatchObject({ summary: 'Kept.' });
});

it('are told of by a program that embeds a worker without them, once for each agent', async () => {
  const ids = [await asked(), await asked()];
  const warnings: string[] = [];
  const runtime = await createNodeRuntime({
    home: home.path,
    onListenerError: (error) => warnings.push(messageOf(error)),
  });
  try {
    const worker = runtime.startWorker();
    await expect.poll(() => worker.status().setAside.map(({ phase }) => phase)).toEqual(['elsewhere', 'elsewhere']);
    expect(warnings).toEqual([expect.stringContaining('there is no agent "clock"')]);
    expect(ids).toHaveLength(2);
  } finally {
    await runtime.shutdown();
  }
});

it('are told of by an inspector without them, in its list and for each session, once no worker took them in time', async () => {
  const clock = createSystemClock();
  // As when they were sent, however slow this test is.
  const frozen = clock.now();
  let aheadMs = 0;
  const ids = { agent_missing: await asked(), environment_missing: await asked('clock', 'tower') };
  const frontmatter = { name: 'Clock', provider: 'script', model: 'script.json' };
  const runtime = await createNodeRuntime({ home: home.path, clock: { ...clock, now: () => frozen + aheadMs } });
  const source = createHomeSource(runtime, { title: 'a home', onProblem: () => undefined });
  try {
    expect((await source.session(ids.agent_missing))?.why.reasons[0]?.kind).toBe('unread');
    aheadMs = clock.now() - frozen + TAKEN_MS;
    expect((await source.session(ids.agent_missing))?.why.reasons[0]?.kind).toBe('agent_missing');
    await runtime.agents.create({ agentId: 'clock', source: { frontmatter, instructions: 'Play.' } });
    const { why } = (await source.session(ids.environment_missing)) ?? {};
    expect(why?.reasons[0]).toMatchObject({
      kind: 'environment_missing',
      text: expect.stringContaining('There is no environment "tower"') as string,
    });
    const { sessions } = await source.sessions({ limit: 10 });
    expect(sessions.find(({ sessionId }) => sessionId === ids.environment_missing)?.why?.kind).toBe(
      'environment_missing',
    );
    expect(sessions.find(({ sessionId }) => sessionId === ids.agent_missing)?.why?.kind).toBe('unread');
  } finally {
    source.close();
    await runtime.shutdown();
  }
});

/** Outcomes in sessions that run: what agents may say of them, what evaluates them, and what an evaluation is worth. */
import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { promotionProblem, requirePromotion } from '../../../src/actors/outcome/promotion-gate.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import type { Said, TurnSetup } from '../../support/turn-setup.ts';
import { until } from '../../support/session-setup.ts';
import { TOOLS, openOutcomeSetup } from './outcome-setup.ts';
import type { OutcomeSetup } from './outcome-setup.ts';

let open: OutcomeSetup | undefined;

afterEach(async () => {
  await open?.close();
  open = undefined;
});

async function opened(...options: Parameters<typeof openOutcomeSetup>): Promise<OutcomeSetup> {
  return (open = await openOutcomeSetup(...options));
}

const shell = (command: string): Said => ({ calls: [{ name: 'shell_run', input: { command } }] });
const uses = (name: string, input: unknown = {}): Said => ({ calls: [{ name, input }] });
const done: Said = { text: 'All tests pass. Done.' };

interface Wanted {
  readonly check?: { readonly command: string; readonly timeoutSeconds?: number };
  readonly criteria?: string[];
}

async function worked(setup: TurnSetup, steps: readonly Said[], wanted?: Wanted): Promise<string> {
  await setup.agent('worker', steps, TOOLS);
  const id = await setup.start('worker');
  if (wanted !== undefined)
    await setup.runtime.sessions.send(id, { type: 'user.define_outcome', title: 'It works.', ...wanted });
  await setup.runtime.wake(id);
  return id;
}

const lastResult = async (setup: TurnSetup, id: string): Promise<unknown> => (await setup.results(id)).at(-1);

describe('an agent', () => {
  it('may say what it is to achieve where nobody else has, and set no check', async () => {
    const { setup } = await opened();
    const id = await worked(setup, [
      uses('outcome_define', { title: 'Mine.', check: { command: 'true' } }),
      uses('outcome_define', { title: 'Mine.', criteria: ['true exits with 0'] }),
      done,
    ]);
    const [refused, defined] = await setup.results(id);
    expect(refused).toEqual({ outcome: 'failed', output: expect.stringContaining('check') as string });
    expect(defined).toEqual({ outcome: 'completed', output: { defined: true, title: 'Mine.' } });
    expect((await setup.state(id)).outcome).toMatchObject({ title: 'Mine.', by: 'agent' });
  });

  it('does not talk away what somebody outside wants', async () => {
    const { setup } = await opened();
    const id = await worked(setup, [uses('outcome_define', { title: 'Easier.' }), done], {});
    expect(await lastResult(setup, id)).toEqual({
      outcome: 'failed',
      output: expect.stringContaining('a client has said') as string,
    });
    expect((await setup.state(id)).outcome).toMatchObject({ title: 'It works.', by: 'person' });
  });

  it('that evaluates in its wake learns what speaks for it and what does not, and may promote only then', async () => {
    const { setup } = await opened();
    const id = await worked(
      setup,
      [shell('true'), uses('outcome_evaluate'), uses('outcome_grade'), uses('outcome_history'), done],
      { check: { command: 'test -d .' } },
    );
    const [, evaluated, graded, history] = await setup.results(id);
    expect(evaluated).toMatchObject({
      output: {
        verdict: 'pass',
        grade: 'done_candidate',
        evaluators: ['log', 'check'],
        evidence: [
          { kind: 'check', speaks: 'for' },
          { text: 'true exited with 0', speaks: 'neither' },
        ],
      },
    });
    expect(graded).toMatchObject({
      output: { mayPromote: true, outcome: { by: 'person', hasCheck: true }, evaluation: { verdict: 'pass' } },
    });
    expect(history).toMatchObject({ output: { trend: 'same', entries: [{ verdict: 'pass' }] } });
    expect(requirePromotion(await setup.state(id)).sessionId).toBe(id);
    // Evaluated once: the end of the wake had nothing to add.
    expect(await setup.dataOf(id, 'outcome.evaluated')).toHaveLength(1);
  });

  it('that changes something after it passed has to be evaluated again', async () => {
    const { setup } = await opened();
    const id = await worked(setup, [shell('true'), uses('outcome_evaluate'), shell('touch late'), done], {
      check: { command: 'test ! -e late' },
    });
    const evaluations = await setup.dataOf(id, 'outcome.evaluated');
    expect(evaluations.map(({ verdict }) => verdict)).toEqual(['pass', 'fail']);
    expect(promotionProblem(await setup.state(id))).toContain('evaluated as "fail"');
  });

  it('does not pass while what is staged to be shared changes', async () => {
    const { setup } = await opened();
    const id = await worked(
      setup,
      [
        shell('mkdir substrate-stage && echo one > substrate-stage/a.md'),
        uses('outcome_evaluate'),
        shell('true'),
        done,
      ],
      { check: { command: 'echo more >> substrate-stage/a.md' } },
    );
    expect((await setup.dataOf(id, 'outcome.evaluated'))[0]).toMatchObject({
      verdict: 'uncertain',
      because: 'What is staged to be shared was changed while the outcome was evaluated.',
    });
  });

  it('that evaluates beside other calls is told to do it alone', async () => {
    const { setup } = await opened();
    const id = await worked(
      setup,
      [{ calls: [{ name: 'outcome_evaluate' }, { name: 'shell_run', input: { command: 'true' } }] }, done],
      { criteria: ['true exits with 0'] },
    );
    expect((await setup.dataOf(id, 'outcome.evaluated'))[0]).toMatchObject({
      verdict: 'not_ready',
      because: expect.stringContaining('in a step of its own') as string,
    });
  });

  it('learns how its calls are judged, and what one would meet', async () => {
    const { setup } = await opened();
    await setup.agent(
      'asker',
      [
        uses('permission_describe', { call: { name: 'shell_run', input: { command: 'make install' } } }),
        uses('permission_describe', { call: { name: 'shell_run', input: { command: 7 } } }),
        uses('permission_describe', { call: { name: 'outcome_grade', input: {} } }),
        done,
      ],
      { ...TOOLS, permission: { mode: 'ask', allow: ['shell_run(npm test)'], deny: ['shell_run(git push)'] } },
    );
    const id = await setup.start('asker');
    await setup.runtime.wake(id);
    const [asks, invalid, runs] = await setup.results(id);
    expect(asks).toMatchObject({
      output: {
        mode: 'ask',
        humans: 'reachable',
        rules: { allow: ['shell_run(npm test)'], deny: ['shell_run(git push)'] },
        waiting: [],
        environment: { id: 'host', sandbox: 'off' },
        call: { decision: 'ask', wouldBeAllowed: ['shell_run(make install $)'] },
      },
    });
    expect(invalid).toMatchObject({ output: { call: { decision: 'invalid' } } });
    expect(runs).toMatchObject({ output: { call: { decision: 'run', because: 'the tool changes nothing' } } });
    expect(await setup.requests(id)).toEqual([]);
  });
});

describe('an evaluation from outside', () => {
  it('runs the checks of the outcome and of the environment where the session works, and stores what came of it', async () => {
    const { setup, outcomes } = await opened({ check: { command: 'test -e made', timeoutSeconds: 60 } });
    const id = await worked(setup, [shell('touch made'), done]);
    expect(await outcomes.evaluator.evaluate(id)).toMatchObject({ verdict: 'not_ready', grade: 'missing_outcome' });
    await setup.runtime.sessions.send(id, {
      type: 'user.define_outcome',
      title: 'It is made.',
      check: { command: 'exit 3' },
    });
    expect(await outcomes.evaluator.evaluate(id)).toMatchObject({
      verdict: 'not_ready',
      because: '1 of what came in was not read yet.',
    });
    await setup.agent(
      'worker',
      ({ messages }) => (JSON.stringify(messages).includes('touch again') ? done : shell('touch again')),
      TOOLS,
    );
    await setup.runtime.wake(id);
    const report = await outcomes.evaluator.evaluate(id);
    expect(report).toMatchObject({ verdict: 'fail', because: 'The check of the outcome, `exit 3`, exited with 3.' });
    const state = await setup.state(id);
    expect(state.evaluation).toMatchObject({ verdict: 'fail', throughSeq: report.throughSeq });
    expect(await outcomes.evaluator.history(id)).toMatchObject({
      trend: 'worse',
      entries: expect.arrayContaining([expect.objectContaining({ verdict: 'fail' })]) as unknown,
    });
    expect(setup.reported).toEqual([]);
  });

  it('leaves the session as free as it was', async () => {
    const { setup, outcomes } = await opened();
    const id = await worked(setup, [shell('true'), done, done], {});
    expect((await outcomes.evaluator.evaluate(id)).verdict).toBe('uncertain');
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'More.' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect((await outcomes.evaluator.grade(id)).grade).toBe('done_candidate');
  });

  it('does not count where a person defines another outcome in the moment in which it is stored', async () => {
    const store = new HookedStore();
    const { setup } = await opened({}, { store });
    store.before('outcome.evaluated', async () => {
      const [{ sessionId } = { sessionId: '' }] = await setup.open().sessions.list();
      await setup.runtime.sessions.send(sessionId, { type: 'user.define_outcome', title: 'Something else.' });
    });
    const id = await worked(setup, [shell('true'), done], { check: { command: 'true' } });
    const evaluations = await setup.dataOf(id, 'outcome.evaluated');
    expect(evaluations[0]).toMatchObject({
      verdict: 'uncertain',
      because: 'Another outcome was defined while this one was evaluated.',
    });
  });

  it('is alone, and does not count when somebody writes meanwhile', async () => {
    const { setup, outcomes } = await opened();
    await setup.agent('worker', ({ messages }) => (messages?.at(-1)?.role === 'tool' ? done : shell('true')), TOOLS);
    const id = await setup.start('worker');
    await setup.runtime.sessions.send(id, {
      type: 'user.define_outcome',
      title: 'It goes.',
      check: { command: 'touch started; until [ -e go ]; do sleep 0.02; done' },
    });
    const workspace = await setup.layout.workspaceDirectory({ sessionId: id, agentId: 'worker' });
    const isThere = (name: string): Promise<boolean> =>
      access(join(workspace, name)).then(
        () => true,
        () => false,
      );
    const waking = setup.runtime.wake(id);
    // What a wake has brought to rest is evaluated under its right.
    await until(() => isThere('started'));
    await expect(outcomes.evaluator.evaluate(id)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    await writeFile(join(workspace, 'go'), '');
    expect((await waking).outcome).toBe('sleep');
    expect((await setup.state(id)).evaluation).toMatchObject({ verdict: 'pass' });
    await Promise.all([rm(join(workspace, 'go')), rm(join(workspace, 'started'))]);
    const evaluating = outcomes.evaluator.evaluate(id);
    await until(() => isThere('started'));
    await expect(outcomes.evaluator.evaluate(id)).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'One thing more.' });
    await expect(setup.runtime.wake(id)).rejects.toMatchObject({ code: 'WAKE_CONFLICT' });
    await writeFile(join(workspace, 'go'), '');
    expect(await evaluating).toMatchObject({
      verdict: 'uncertain',
      because: 'A message came while the outcome was evaluated.',
    });
    expect((await setup.runtime.wake(id)).outcome).toBe('sleep');
    expect(setup.reported).toEqual([]);
  });

  it('that is ended in the middle stores nothing and leaves nothing running', async () => {
    const { setup, outcomes } = await opened();
    await setup.agent('worker', ({ messages }) => (messages?.at(-1)?.role === 'tool' ? done : shell('true')), TOOLS);
    const id = await setup.start('worker');
    await setup.runtime.sessions.send(id, {
      type: 'user.define_outcome',
      title: 'It goes.',
      check: { command: 'test -e quick || { touch started; exec sleep 600; }' },
    });
    const workspace = await setup.layout.workspaceDirectory({ sessionId: id, agentId: 'worker' });
    await writeFile(join(workspace, 'quick'), '');
    await setup.runtime.wake(id);
    await rm(join(workspace, 'quick'));
    const before = (await setup.state(id)).head;
    const stop = new AbortController();
    const evaluating = outcomes.evaluator.evaluate(id, { signal: stop.signal });
    await until(() =>
      access(join(workspace, 'started')).then(
        () => true,
        () => false,
      ),
    );
    stop.abort(new Error('no more'));
    await expect(evaluating).rejects.toThrow('no more');
    expect((await setup.state(id)).head).toBe(before);
    await writeFile(join(workspace, 'quick'), '');
    expect((await outcomes.evaluator.evaluate(id)).verdict).toBe('pass');
  });

  it('ends a check whose time is up', async () => {
    const { setup } = await opened();
    const id = await worked(setup, [shell('true'), done], { check: { command: 'sleep 600', timeoutSeconds: 1 } });
    expect((await setup.state(id)).evaluation).toMatchObject({
      verdict: 'fail',
      because: 'The check of the outcome, `sleep 600`, was not over in time.',
    });
  });

  it('of a session that was terminated is refused, and so is one whose signal is aborted', async () => {
    const { setup, outcomes } = await opened();
    const id = await worked(setup, [shell('true'), done], {});
    await expect(outcomes.evaluator.evaluate(id, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
      'enough',
    );
    await setup.runtime.sessions.terminate(id);
    await expect(outcomes.evaluator.evaluate(id)).rejects.toMatchObject({ code: 'SESSION_TERMINATED' });
    await expect(outcomes.evaluator.history(id, { limit: 0 })).rejects.toMatchObject({
      code: 'SESSION_REQUEST_INVALID',
    });
  });
});

describe('a judge', () => {
  const judged = { judge: { provider: 'model', model: 'judge' } };

  it('is shown the criteria and what the log shows, and nothing that the agent said', async () => {
    const { setup, outcomes } = await opened(judged);
    let asked = '';
    await setup.agent('judge', (params) => {
      asked = params.prompt ?? '';
      return { text: '{"verdict":"pass","because":"It exited with 0."}' };
    });
    const id = await worked(setup, [shell('true'), done], { criteria: ['It is beautiful.'] });
    expect(await outcomes.evaluator.evaluate(id)).toMatchObject({
      verdict: 'pass',
      because: 'The judge says yes: It exited with 0.',
      evaluators: ['log', 'judge'],
    });
    expect(JSON.parse(asked)).toMatchObject({
      outcome: { title: 'It works.', criteria: ['It is beautiful.'] },
      evidence: [{ text: 'true exited with 0' }],
    });
    expect(asked).not.toContain('All tests pass');
  });

  it('counts for the budget of the session, by what it tells or by what it read and said', async () => {
    const { setup, outcomes } = await opened(judged);
    await setup.agent('judge', () => ({
      text: '{"verdict":"pass","because":"Yes."}',
      usage: { inputTokens: 900, outputTokens: 100, cost: 0.25 },
    }));
    const id = await worked(setup, [shell('true'), done], {});
    const { used } = await setup.state(id);
    await outcomes.evaluator.evaluate(id);
    const once = (await setup.state(id)).used;
    expect([once.tokens - used.tokens, once.cost - used.cost]).toEqual([1_000, 0.25]);
    await setup.agent('judge', () => ({ text: '{"verdict":"pass","because":"Yes."}' }));
    await outcomes.evaluator.evaluate(id);
    expect((await setup.state(id)).used.tokens).toBeGreaterThan(once.tokens);
  });

  it.each([
    ['{"verdict":"fail","because":"No."}', 'fail', 'The judge says no: No.'],
    ['{"verdict":"uncertain","because":"Who knows."}', 'uncertain', 'Who knows.'],
    ['Sure! {"verdict":"pass","because":"ok"}', 'uncertain', 'cannot be read'],
    ['{"verdict":"pass","because":"ok","confidence":1}', 'uncertain', 'cannot be read'],
    ['{"verdict":"pass"}', 'uncertain', 'cannot be read'],
    ['', 'uncertain', 'cannot be read'],
  ])('that answers %j makes it %s', async (text, verdict, because) => {
    const { setup, outcomes } = await opened(judged);
    await setup.agent('judge', () => ({ text }));
    const id = await worked(setup, [shell('true'), done], {});
    expect(await outcomes.evaluator.evaluate(id)).toMatchObject({
      verdict,
      because: expect.stringContaining(because) as string,
    });
  });

  it('that cannot be asked does not know, and is not asked when a check has failed', async () => {
    const { setup, outcomes } = await opened(judged);
    let asked = 0;
    await setup.agent('judge', () => {
      asked += 1;
      return { error: { kind: 'billing', message: 'no money' } };
    });
    const id = await worked(setup, [shell('true'), done], {});
    expect(await outcomes.evaluator.evaluate(id)).toMatchObject({
      verdict: 'uncertain',
      because: expect.stringContaining('no money') as string,
    });
    await setup.runtime.sessions.send(id, {
      type: 'user.define_outcome',
      title: 'Never.',
      check: { command: 'false' },
    });
    await setup.agent(
      'worker',
      ({ messages }) => (JSON.stringify(messages).includes('touch more') ? done : shell('touch more')),
      TOOLS,
    );
    await setup.runtime.wake(id);
    expect([(await setup.state(id)).evaluation?.verdict, asked]).toEqual(['fail', 1]);
  });
});

describe('a fork', () => {
  it('has the outcome of the session that it was made from, and has to be evaluated itself', async () => {
    const { setup, outcomes } = await opened();
    const id = await worked(setup, [shell('true'), done], { check: { command: 'test -e .' } });
    expect(promotionProblem(await setup.state(id))).toBeUndefined();
    const fork = await setup.runtime.sessions.fork(id);
    expect([fork.outcome?.title, fork.evaluation, promotionProblem(fork)]).toEqual([
      'It works.',
      undefined,
      'the outcome has not been evaluated',
    ]);
    expect((await outcomes.evaluator.evaluate(fork.sessionId)).verdict).toBe('pass');
    expect(requirePromotion(await setup.state(fork.sessionId)).sessionId).toBe(fork.sessionId);
  });
});

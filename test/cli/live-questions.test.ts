/** What a backend asks for in the middle of its turn is put to whoever sits at the terminal while the wake runs. */
import { PassThrough, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunPermissionAnswer } from '../../src/actors/run/agent-runtime.ts';
import { followedWake } from '../../src/cli/wake/followed-wake.ts';
import { LineInput } from '../../src/cli/terminal/line-input.ts';
import { LiveQuestions } from '../../src/cli/wake/live-questions.ts';
import { Output } from '../../src/cli/terminal/output.ts';
import { Person } from '../../src/cli/wake/person.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import type { WakeOutcome } from '../../src/machines/wake/wake-outcome.ts';
import { openSetup, until } from '../support/session-setup.ts';
import type { SessionSetup } from '../support/session-setup.ts';
import { toldRuntime } from '../support/told-runtime.ts';
import type { Act } from '../support/told-runtime.ts';

/** A turn that asks for these commands, all at once, and says what was answered. */
const asksFor =
  (...commands: readonly string[]): Act =>
  async ({ requestPermission }, tell) => {
    const answers = await Promise.all(
      commands.map(async (command, index) => {
        const callId = `theirs-${index}`;
        const answer: RunPermissionAnswer | undefined = await requestPermission?.({
          callId,
          name: 'Bash',
          input: { command },
          means: { kind: 'command', command },
        });
        if (answer?.decision === 'allow')
          tell({ stream: 'tool', data: { phase: 'ended', callId, outcome: 'completed', output: 'ran' } });
        return answer?.decision === 'deny' ? `denied (${answer.message})` : String(answer?.decision);
      }),
    );
    return { payloads: [{ type: 'text', text: answers.join(', ') }] };
  };

interface Seat {
  readonly id: string;
  readonly keys: PassThrough;
  /** All that is on the terminal, as text. */
  readonly shown: () => string;
  /** Types a line once the question about this is on the screen and waits. */
  type(question: string, line: string): Promise<void>;
  readonly interrupt: AbortController;
  /** Stays when the questions are over: what was told, in order. */
  readonly told: string[];
  readonly waking: Promise<WakeOutcome>;
  readonly held: string[];
}

let setup: SessionSetup;
const act: { now: Act } = { now: () => ({ payloads: [] }) };

beforeEach(async () => {
  setup = await openSetup({
    runtimes: [toldRuntime('turner', [(params, tell) => act.now(params, tell)], { runs: 'turn' })],
  });
});
afterEach(() => setup.close());

const PROMPT = '[f] full  [?] help › ';

async function sit(does: Act): Promise<Seat> {
  act.now = does;
  const id = await setup.session([], { message: 'Go.', agent: { provider: 'turner', model: 'm', permission: 'ask' } });
  let text = '';
  const screen = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  const keys = new PassThrough();
  // An output needs no more of a stream of the process than any stream has.
  const err = new Output(screen as unknown as NodeJS.WriteStream, {});
  const interrupt = new AbortController();
  const { sessions } = setup.runtime;
  const held: string[] = [];
  const told: string[] = [];
  const person = new Person({ sessions, input: new LineInput(keys), err, signal: interrupt.signal });
  const questions = new LiveQuestions({
    sessions,
    person,
    err,
    progress: { hold: () => void held.push('held'), goOn: () => void held.push('goes on') },
    commandFor: (...words) => ['wakechart', ...words].join(' '),
  });
  const show = async (event: SessionEvent): Promise<void> => void told.push(event.type);
  const waking = (async (): Promise<WakeOutcome> => {
    try {
      return await followedWake({
        runtime: setup.runtime,
        sessionId: id,
        signal: interrupt.signal,
        onEvent: (event) => questions.hear(event, show),
        onChildEvent: (event) => questions.hear(event, async () => undefined),
      });
    } finally {
      await questions.end();
    }
  })();
  waking.catch(() => undefined);
  let seen = 0;
  const type = async (question: string, line: string): Promise<void> => {
    await until(
      () =>
        text.indexOf(PROMPT, seen) >= 0 &&
        text.indexOf(question) >= 0 &&
        keys.listenerCount('data') > 0 &&
        text.endsWith(PROMPT),
    );
    seen = text.length;
    // What is typed too early is dropped.
    await until(() => !keys.isPaused());
    keys.write(`${line}\n`);
  };
  return { id, keys, shown: () => text, type, interrupt, told, waking, held };
}

/** Until the question is on the screen. */
const asked = (seat: Seat, question: string): Promise<void> =>
  until(() => seat.shown().includes(question) && seat.shown().endsWith(PROMPT));
const answersOf = async (id: string): Promise<string[]> =>
  (await setup.log(id)).flatMap((event) => (event.type === 'agent.message' ? [event.data.text] : []));

describe('a permission that is asked for in the middle of a turn', () => {
  it('is asked about while the wake runs, which goes on with the answer', async () => {
    const seat = await sit(asksFor('touch made'));
    await asked(seat, 'touch made');
    expect((await setup.runtime.sessions.status(seat.id)).openWake).toBeDefined();
    await seat.type('touch made', 'y');
    expect(await seat.waking).toMatchObject({ outcome: 'sleep', modelSteps: 1 });
    expect(await answersOf(seat.id)).toEqual(['allow']);
    expect(seat.held).toEqual(['held', 'goes on']);
  });

  it('is denied with what the person says about it', async () => {
    const seat = await sit(asksFor('touch made'));
    await seat.type('touch made', 'n');
    await until(() => seat.shown().endsWith('It may stay empty. › ') && !seat.keys.isPaused());
    seat.keys.write('Not on Fridays.\n');
    await seat.waking;
    expect(await answersOf(seat.id)).toEqual(['denied (The call was denied. Not on Fridays.)']);
  });

  it('is asked about one after another, when there are several at once', async () => {
    const seat = await sit(asksFor('touch one', 'touch two', 'touch three'));
    for (const [index, name] of ['one', 'two', 'three'].entries()) {
      await asked(seat, `touch ${name}`);
      expect(seat.shown().split(PROMPT)).toHaveLength(index + 2);
      await seat.type(`touch ${name}`, index === 1 ? 'n' : 'y');
      if (index === 1) {
        await until(() => seat.shown().endsWith('It may stay empty. › ') && !seat.keys.isPaused());
        seat.keys.write('\n');
      }
    }
    await seat.waking;
    expect(await answersOf(seat.id)).toEqual(['allow, denied (The call was denied.), allow']);
  });

  it('tells what happens meanwhile after the answer, in its order', async () => {
    const seat = await sit(async (params, tell) => {
      const asking = asksFor('touch made')(params, tell);
      tell({ stream: 'tool', data: { phase: 'requested', callId: 'other', name: 'Read', input: { path: 'a' } } });
      tell({ stream: 'tool', data: { phase: 'started', callId: 'other' } });
      return asking;
    });
    await asked(seat, 'touch made');
    await until(async () => (await setup.types(seat.id)).filter((type) => type === 'agent.tool_use').length === 2);
    await seat.type('touch made', 'y');
    await seat.waking;
    expect(seat.told).toEqual((await setup.types(seat.id)).slice(2));
  });

  it('is taken from the screen when somebody else answers it, and the turn goes on', async () => {
    const seat = await sit(asksFor('touch made'));
    await asked(seat, 'touch made');
    const [{ requestId, toolName } = { requestId: '', toolName: '' }] = (await setup.runtime.sessions.status(seat.id))
      .pendingActions;
    await setup.runtime.sessions.send(seat.id, { type: 'user.tool_confirmation', requestId, toolName, allowed: true });
    expect(await seat.waking).toMatchObject({ outcome: 'sleep' });
    expect(await answersOf(seat.id)).toEqual(['allow']);
    expect(seat.shown()).toContain('note: no answer is needed any more: a person has allowed it meanwhile');
    expect(seat.keys.listenerCount('data')).toBe(0);
  });

  it('is not asked about at all when it was answered while another one was', async () => {
    const seat = await sit(asksFor('touch one', 'touch two'));
    await asked(seat, 'touch one');
    await until(async () => (await setup.runtime.sessions.status(seat.id)).pendingActions.length === 2);
    const { requestId, toolName } = (await setup.runtime.sessions.status(seat.id)).pendingActions[1] ?? {
      requestId: '',
      toolName: '',
    };
    await setup.runtime.sessions.send(seat.id, { type: 'user.tool_confirmation', requestId, toolName, allowed: false });
    await seat.type('touch one', 'y');
    await seat.waking;
    expect(await answersOf(seat.id)).toEqual(['allow, denied (The call was denied.)']);
    expect(seat.shown()).not.toContain('touch two');
  });

  it('is taken from the screen when its time is over', async () => {
    const seat = await sit(asksFor('touch made'));
    await asked(seat, 'touch made');
    await setup.clock.advance(601_000);
    await seat.waking;
    expect(seat.shown()).toContain('no answer is needed any more: it was not allowed in time');
    expect((await answersOf(seat.id))[0]).toMatch(/^denied \(The call was not allowed in time/);
  });

  it('that is put off says how to answer it from elsewhere, is not asked about again, and can be answered there', async () => {
    const seat = await sit(asksFor('touch made'));
    await seat.type('touch made', 'l');
    await until(() => seat.shown().includes('--deny'));
    const [{ requestId, toolName } = { requestId: '', toolName: '' }] = (await setup.runtime.sessions.status(seat.id))
      .pendingActions;
    expect(seat.shown()).toContain(
      `wakechart session confirm-tool --session ${seat.id} --request ${requestId} --allow`,
    );
    await setup.runtime.sessions.send(seat.id, { type: 'user.tool_confirmation', requestId, toolName, allowed: true });
    await seat.waking;
    expect(await answersOf(seat.id)).toEqual(['allow']);
    expect(seat.shown().split(PROMPT)).toHaveLength(2);
  });

  it('answers nothing when the person stops the wake at the question', async () => {
    const seat = await sit(asksFor('touch made'));
    await asked(seat, 'touch made');
    seat.interrupt.abort('received SIGINT');
    expect(await seat.waking).toMatchObject({ outcome: 'aborted' });
    expect(await setup.types(seat.id)).not.toContain('user.tool_confirmation');
    expect((await setup.runtime.sessions.status(seat.id)).pendingActions).toEqual([]);
    expect(seat.keys.listenerCount('data')).toBe(0);
  });

  it('denies nothing when the person stops the wake while they are asked why', async () => {
    const seat = await sit(asksFor('touch made'));
    await seat.type('touch made', 'n');
    await until(() => seat.shown().endsWith('It may stay empty. › '));
    seat.interrupt.abort('received SIGINT');
    expect(await seat.waking).toMatchObject({ outcome: 'aborted' });
    expect(await setup.types(seat.id)).not.toContain('user.tool_confirmation');
  });

  it('waits for somebody elsewhere when nobody can type any more', async () => {
    const seat = await sit(asksFor('touch made'));
    await asked(seat, 'touch made');
    seat.keys.end();
    await until(() => seat.shown().includes('To answer it from elsewhere'));
    await setup.clock.advance(601_000);
    expect(await seat.waking).toMatchObject({ outcome: 'sleep' });
  });
});

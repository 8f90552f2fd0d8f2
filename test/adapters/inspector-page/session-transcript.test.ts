/** Logs of sessions as conversations, and the way from an event to its record. */
import { describe, expect, it } from 'vitest';
import { eventsUntil, recordOfEvent } from '../../../src/adapters/inspector-page/sessions/event-records.ts';
import { SessionLog } from '../../../src/adapters/inspector-page/sessions/session-watch.ts';
import { outcomeOf, transcriptOf } from '../../../src/adapters/inspector-page/sessions/transcript.ts';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import { recordsOfSession } from '../../../src/machines/inspection-log/session-records.ts';
import { transcriptStep } from '../../../src/machines/inspection-log/transcript-step.ts';
import type { TranscriptStep } from '../../../src/machines/inspection-log/transcript-step.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { openSetup } from '../../support/session-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

const STEPS = [
  { text: 'I clean up.', toolCalls: [{ name: 'shell_run', input: { command: 'rm -rf build' } }] },
  { text: 'Done.', directive: { outcome: 'sleep', summary: 'Done.' } },
];

/** As they come from the server. */
const stepsOf = (events: readonly SessionEvent[]): readonly TranscriptStep[] =>
  JSON.parse(JSON.stringify(events.map(transcriptStep))) as readonly TranscriptStep[];

/** A log in which a call was denied, and the session went on. */
async function deniedLog(): Promise<readonly SessionEvent[]> {
  await using setup = await openSetup();
  const session = await setup.session(STEPS, { message: 'Clean up.', agent: { permission: { mode: 'ask' } } });
  await setup.runtime.wake(session);
  const [action] = (await setup.runtime.sessions.status(session)).pendingActions;
  await setup.runtime.sessions.send(session, {
    type: 'user.tool_confirmation',
    requestId: action?.requestId ?? '',
    toolName: 'shell_run',
    allowed: false,
    note: 'not now',
  });
  await setup.runtime.wake(session);
  // Read before the setup closes.
  return await setup.log(session);
}

/** A log in which a call was allowed, and ran. */
async function allowedLog(): Promise<readonly SessionEvent[]> {
  const tools = noteTools();
  await using setup = await openSetup({ tools: [tools.tool('deploy', { permissionPolicy: 'always_ask' })] });
  const session = await setup.session(
    [{ toolCalls: [{ name: 'deploy', input: { command: 'deploy --to production' } }] }, { text: 'Done.' }],
    { message: 'Bring it out.', agent: { tools: ['deploy'], permission: { mode: 'ask' } } },
  );
  await setup.runtime.wake(session);
  const [action] = (await setup.runtime.sessions.status(session)).pendingActions;
  await setup.runtime.sessions.send(session, {
    type: 'user.tool_confirmation',
    requestId: action?.requestId ?? '',
    toolName: 'deploy',
    allowed: true,
  });
  await setup.runtime.wake(session);
  // Read before the setup closes.
  return await setup.log(session);
}

describe('a transcript', () => {
  it('tells a call once, with what it was given and what came of it', async () => {
    const events = await deniedLog();
    const entries = transcriptOf(stepsOf(events));
    const calls = entries.filter(({ kind }) => kind === 'call');
    expect(calls).toMatchObject([
      {
        call: {
          name: 'shell_run',
          state: 'denied',
          input: [{ name: 'command', text: 'rm -rf build', isShort: false }],
        },
      },
    ]);
    expect(entries.filter(({ kind }) => kind === 'said').map(({ text }) => text)).toEqual(['I clean up.', 'Done.']);
    expect(entries.filter(({ kind }) => kind === 'heard').map(({ title, text }) => [title, text])).toEqual([
      ['Message', 'Clean up.'],
      ['shell_run denied', 'not now'],
    ]);
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map(({ seq }) => seq).toSorted((one, other) => one - other));
  });

  it('tells what came of a call where it ran: after the question and its answer', async () => {
    const events = await allowedLog();
    const told = transcriptOf(stepsOf(events)).filter(
      ({ kind }) => kind === 'call' || kind === 'asked' || kind === 'heard',
    );
    expect(told.slice(1).map(({ kind, title, call }) => [kind, title, call?.state, call?.isResumed])).toEqual([
      ['call', 'deploy', 'allowed', undefined],
      ['asked', 'Asks whether it may run deploy', undefined, undefined],
      ['heard', 'deploy allowed once', undefined, undefined],
      ['call', 'deploy', 'completed', true],
    ]);
    const answered = events.findIndex(({ type }) => type === 'user.tool_confirmation');
    expect(transcriptOf(stepsOf(events.slice(0, answered))).find(({ kind }) => kind === 'call')?.call?.state).toBe(
      'waiting',
    );
    expect(transcriptOf(stepsOf(events.slice(0, answered + 1))).find(({ kind }) => kind === 'call')?.call?.state).toBe(
      'allowed',
    );
  });

  it('ends at the moment that is shown', async () => {
    const events = await deniedLog();
    const timeline = new InspectionTimeline();
    timeline.append(recordsOfSession(events));
    for (const [index, { seq, type, at }] of events.entries()) {
      const s = recordOfEvent(timeline, { seq, type, t: Date.parse(at) });
      expect(eventsUntil(timeline, stepsOf(events), timeline.at(s ?? 0).moment)).toEqual(
        stepsOf(events.slice(0, index + 1)),
      );
    }
    expect(eventsUntil(timeline, stepsOf(events), undefined)).toEqual([]);
  });

  it('of the end of a log tells a call by its result alone', async () => {
    const events = await deniedLog();
    const asked = events.findIndex(({ type }) => type === 'agent.tool_use');
    const [call] = transcriptOf(stepsOf(events.slice(asked + 1))).filter(({ kind }) => kind === 'call');
    expect(call?.call).toMatchObject({ name: 'shell_run', state: 'denied' });
    expect(call?.call?.input).toBeUndefined();
  });

  it('leads from every event to the record that tells it', async () => {
    const events = await deniedLog();
    const timeline = new InspectionTimeline();
    const records = [...recordsOfSession(events)];
    // In two parts, as they come: what was found before stays.
    timeline.append(records.slice(0, 20));
    recordOfEvent(timeline, { seq: 1, type: 'session.created', t: undefined });
    timeline.append(records);
    for (const { seq, type, at } of events) {
      const found = timeline.record(recordOfEvent(timeline, { seq, type, t: Date.parse(at) }) ?? 0);
      expect(found).toMatchObject({ type, t: Date.parse(at) });
    }
    expect(recordOfEvent(timeline, { seq: events.length + 1, type: '', t: undefined })).toBeUndefined();
  });

  it('leads there by time where the oldest records are gone', async () => {
    const events = await deniedLog();
    const timeline = new InspectionTimeline();
    timeline.append([...recordsOfSession(events)].slice(3));
    const last = events.at(-1);
    const found = timeline.record(
      recordOfEvent(timeline, { seq: last?.seq ?? 0, type: last?.type ?? '', t: Date.parse(last?.at ?? '') }) ?? 0,
    );
    expect(found).toMatchObject({ type: last?.type });
  });

  it('leads there though damage took events away', async () => {
    const events = (await deniedLog()).filter(({ seq }) => seq !== 4);
    const timeline = new InspectionTimeline();
    timeline.append(recordsOfSession(events));
    for (const { seq, type, at } of events)
      expect(timeline.record(recordOfEvent(timeline, { seq, type, t: Date.parse(at) }) ?? 0)).toMatchObject({ type });
  });

  it('says what became of a request', async () => {
    const events = await deniedLog();
    const asked = events.find((event) => event.type === 'permission.requested');
    const requestId = asked?.type === 'permission.requested' ? asked.data.requestId : '';
    expect(outcomeOf(stepsOf(events), requestId)).toMatchObject({
      outcome: 'It was denied: not now',
      type: 'user.tool_confirmation',
    });
    expect(outcomeOf(stepsOf(events), 'another')).toBeUndefined();
  });
});

describe('the steps that the page has read', () => {
  const logOf = (count: number): readonly TranscriptStep[] =>
    Array.from({ length: count }, (_, index) => ({ seq: index + 1, type: 'user.interrupt' }));
  const reading = (all: () => readonly TranscriptStep[]): SessionLog =>
    new SessionLog('s', async (_, from, limit) => ({
      steps: all()
        .filter(({ seq }) => seq >= from)
        .slice(0, Math.min(limit, 150)),
      head: all().at(-1)?.seq ?? 0,
    }));
  const numbersOf = (log: SessionLog): readonly number[] => log.steps.value.map(({ seq }) => seq);

  it('are the newest first, then all that come, then older ones when they are asked for, without a gap', async () => {
    let all = logOf(1_000);
    const log = reading(() => all);
    await log.readTo(1_000);
    expect([numbersOf(log)[0], numbersOf(log).at(-1), log.hasEarlier]).toEqual([601, 1_000, true]);
    all = logOf(1_700);
    await log.readTo(1_700);
    await log.readEarlier();
    await log.readEarlier();
    await log.readEarlier();
    expect(numbersOf(log)).toEqual(logOf(1_700).map(({ seq }) => seq));
    expect(log.hasEarlier).toBe(false);
  });

  it('lack those that damage took away, and come to an end all the same', async () => {
    const all = logOf(1_000).filter(({ seq }) => seq < 100 || seq > 700);
    const log = reading(() => all);
    await log.readTo(1_000);
    for (let times = 0; times < 3; times += 1) await log.readEarlier();
    expect([numbersOf(log), log.hasEarlier]).toEqual([all.map(({ seq }) => seq), false]);
  });

  it('begin anew where the log is another one, or far ahead', async () => {
    let all = logOf(900);
    const log = reading(() => all);
    await log.readTo(900);
    all = logOf(5);
    await log.readTo(5);
    expect(numbersOf(log)).toEqual([1, 2, 3, 4, 5]);
    all = logOf(20_000);
    await log.readTo(20_000);
    expect([numbersOf(log)[0], numbersOf(log).length]).toEqual([19_601, 400]);
  });
});

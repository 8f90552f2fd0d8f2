/** A stored session reads as an inspection log in which its actors are where its log says. */
import { cp, mkdir, readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SessionIdentity } from '../../../src/actors/session/event-store.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { HomeLayout } from '../../../src/adapters/files/layout.ts';
import { InspectionReader } from '../../../src/machines/inspection-log/inspection-reader.ts';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import type { InspectedActorState } from '../../../src/machines/inspection-log/inspection-world.ts';
import {
  SessionRecords,
  headerOfSession,
  recordsOfSession,
} from '../../../src/machines/inspection-log/session-records.ts';
import { valueOf } from '../../../src/machines/inspection-log/session-record-writer.ts';
import type { SessionBar } from '../../../src/machines/inspection-log/session-bar.ts';
import { SessionTimeline } from '../../../src/machines/inspection-log/session-timeline.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { foldSession } from '../../../src/machines/session/session-fold.ts';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import { HANDLED_BY_LOGIC } from '../../../src/machines/inspection-log/taken-words.ts';
import { callLeafOf, sessionLeafOf } from '../../../src/machines/session/why-charts.ts';
import { logOf } from '../../support/session-events.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

const HISTORIES = fileURLToPath(new URL('../../histories/', import.meta.url));
const histories = (await readdir(HISTORIES))
  .filter((file) => file.endsWith('.jsonl'))
  .map((file) => file.slice(0, -'.jsonl'.length));

async function eventsOf(name: string): Promise<readonly SessionEvent[]> {
  const { sessionId, agentId } = JSON.parse(
    await readFile(join(HISTORIES, `${name}.state.json`), 'utf8'),
  ) as SessionIdentity;
  const home = await temporaryHome();
  try {
    const path = new HomeLayout(home.path).log({ sessionId, agentId });
    await mkdir(dirname(path), { recursive: true });
    await cp(join(HISTORIES, `${name}.jsonl`), path);
    const store = new FileEventStore({ home: home.path, clock: createSimulatedClock() });
    const events = await store.read(sessionId);
    await store.close();
    return events;
  } finally {
    await home.remove();
  }
}

function timelineOf(records: readonly InspectionRecord[]): InspectionTimeline {
  const timeline = new InspectionTimeline();
  timeline.append(records);
  return timeline;
}

function foldAll(events: readonly SessionEvent[]): SessionState {
  const [first] = events;
  return events.reduce(
    foldSession,
    initialSessionState({
      sessionId: first?.sessionId ?? '',
      agentId: first?.type === 'session.created' ? first.data.agentId : '',
    }),
  );
}

const barsIn = (bar: SessionBar): readonly SessionBar[] => [bar, ...bar.children.flatMap(barsIn)];

const ofKind = (actors: readonly InspectedActorState[], kind: string): readonly InspectedActorState[] =>
  actors.filter((actor) => actor.kind === kind);

describe.each(histories)('the history %s', (name) => {
  it('reads as a whole and undamaged inspection log', async () => {
    const events = await eventsOf(name);
    const records = [...recordsOfSession(events)];
    const reader = new InspectionReader();
    const [first] = events;
    if (first === undefined) throw new Error('expected events');
    const lines = [headerOfSession(first), ...records].map((line) => `${JSON.stringify(line)}\n`);
    expect([...reader.read(lines.join('')), ...reader.end()]).toEqual(JSON.parse(JSON.stringify(records)));
    expect(reader.report).toMatchObject({
      records: records.length,
      broken: { count: 0 },
      gaps: { count: 0 },
      unknownFields: { count: 0 },
      outOfOrder: 0,
    });
    expect([...recordsOfSession(events)]).toEqual(records);
  });

  it('has its session, its wakes and its calls where the log says, after every event', async () => {
    const events = await eventsOf(name);
    const timeline = new InspectionTimeline();
    const records = new SessionRecords();
    for (const [index, event] of events.entries()) {
      timeline.append(records.see(event));
      const state = foldAll(events.slice(0, index + 1));
      const world = timeline.at(Infinity);
      const actors = world.actors({ limit: Infinity });
      expect(ofKind(actors, 'session')).toMatchObject([
        { value: valueOf(sessionLeafOf(state)), status: state.status === 'terminated' ? 'done' : 'active' },
      ]);
      expect(ofKind(actors, 'wake')).toHaveLength(state.wakes);
      expect(ofKind(actors, 'wake').filter(({ status }) => status === 'active')).toHaveLength(
        state.openWake === undefined ? 0 : 1,
      );
      const waiting = state.openToolCalls.filter(({ by, phase }) => by === undefined && phase !== 'answered');
      for (const call of waiting)
        expect(actors.find(({ id, status }) => id === call.callId && status === 'active')?.value).toEqual(
          valueOf(callLeafOf(call)),
        );
      expect(ofKind(actors, 'toolCall').filter(({ status }) => status === 'active')).toHaveLength(
        state.openToolCalls.filter(({ by }) => by === undefined).length,
      );
      expect(world.inFlight()).toEqual([]);
    }
  });

  it('has one bar over time for each wake and each call, which are over where its log says so', async () => {
    const events = await eventsOf(name);
    const bars = new SessionTimeline({ place: 1, t: 0 });
    for (const { seq, type, at, data, epoch } of events)
      bars.see({ place: seq, t: Date.parse(at), type, data, isOfWake: epoch !== undefined });
    const all = barsIn(bars.root);
    const begun = (type: SessionEvent['type']): number => events.filter((event) => event.type === type).length;
    expect(all.filter(({ kind }) => kind === 'wake')).toHaveLength(begun('wake.started'));
    expect(all.filter(({ kind }) => kind === 'call')).toHaveLength(begun('agent.tool_use'));
    const { openWake, openToolCalls, pendingActions } = foldAll(events);
    const open = (wanted: string): number => all.filter(({ kind, to }) => kind === wanted && to === undefined).length;
    expect(open('wake')).toBe(openWake === undefined ? 0 : 1);
    expect(open('call')).toBe(openToolCalls.length);
    expect(open('request')).toBe(pendingActions.length);
  });

  it('takes only transitions that its charts have, from where the actor was', async () => {
    const records = [...recordsOfSession(await eventsOf(name))];
    const timeline = timelineOf(records);
    for (const record of records) {
      if (record.k !== 'step') continue;
      const chart = timeline.chart(timeline.at(record.s).actor(record.a)?.chart ?? '');
      for (const id of record.taken)
        expect([...(chart?.transitions ?? []).map((transition) => transition.id), HANDLED_BY_LOGIC]).toContain(id);
      expect(record.taken).not.toEqual([]);
    }
  });
});

describe('a stored session', () => {
  const wakeId = '01900000-0000-7000-8000-000000000001';
  const log = logOf(
    { type: 'session.created', data: { agentId: 'tester' } },
    { type: 'user.message', data: { text: 'x'.repeat(50_000), delivery: 'queue' } },
    { type: 'wake.started', data: { wakeId, epoch: 1, owner: 'somebody', queuedWakeIds: [] } },
    { type: 'session.status_changed', data: { to: 'running' } },
    {
      type: 'span.started',
      data: { spanId: 's1', kind: 'model_step', backend: 'script', provider: 'p', model: 'm', step: 1 },
    },
    { type: 'agent.tool_use', data: { callId: 'c1', name: 'n'.repeat(600), input: {}, spanId: 's1' } },
    { type: 'span.completed', data: { spanId: 's1', kind: 'model_step', outcome: 'completed', modelSteps: 1 } },
    { type: 'agent.tool_started', data: { callId: 'c1' } },
    { type: 'agent.tool_result', data: { callId: 'c1', name: 'check', outcome: 'completed', output: 'seen' } },
  );
  const timeline = timelineOf([...recordsOfSession(log)]);
  const world = timeline.at(Infinity);

  it('cuts what is long, and says so', () => {
    const [message] = timeline.records({ text: 'user.message' });
    expect(message).toMatchObject({ k: 'event', cut: true });
    expect(JSON.stringify(message).length).toBeLessThan(3_000);
  });

  it('shows which way its wake and its call went', () => {
    const steps = timeline.records({ limit: Infinity }).flatMap((record) => (record.k === 'step' ? record.taken : []));
    expect(steps.filter((id) => !id.includes('WAKE'))).toEqual([
      HANDLED_BY_LOGIC,
      'claiming|done(claim)|0',
      'folding|done(fold)|0',
      'assembling|done(assemble)|0',
      'running.stepping|done(step)|0',
      'requested|RUN|0',
      'executing|done(execute)|0',
    ]);
    expect(world.actors().map(({ kind, value, status }) => ({ kind, value, status }))).toEqual([
      { kind: 'session', value: 'running', status: 'active' },
      { kind: 'wake', value: { running: 'calling' }, status: 'active' },
      { kind: 'toolCall', value: 'completed', status: 'done' },
    ]);
    expect(world.roots().map(({ kind, childCount }) => [kind, childCount])).toEqual([['session', 2]]);
  });

  it('ignores no message, which moves no chart', () => {
    const [, step] = timeline.records({ text: 'user.message' });
    expect(step).toMatchObject({ k: 'step', taken: [HANDLED_BY_LOGIC] });
    expect(world.actors()[0]?.lastTransition?.type).toBe('session.status_changed');
  });

  it.each([
    ['shell_run', { command: 'git commit --all \\\n  --message "Count"' }, 'git commit --all \\ --message "Count"'],
    ['edit', { path: 'src/cart.mjs', edits: [] }, 'edit src/cart.mjs'],
    ['ask_human', { question: 'Which port?' }, 'ask_human Which port?'],
    ['shell_run', { command: 'x'.repeat(200) }, `${'x'.repeat(79)}…`],
    ['check', { command: 7, path: ' ' }, 'check'],
    ['check', ['command'], 'check'],
  ])('calls a call of %s what it is about', (name, input, label) => {
    const records = [
      ...recordsOfSession(
        logOf(
          { type: 'session.created', data: { agentId: 'tester' } },
          { type: 'agent.tool_use', data: { callId: 'c1', name, input, spanId: 's1' } },
        ),
      ),
    ];
    expect(ofKind(timelineOf(records).at(Infinity).actors(), 'toolCall')[0]?.facts).toEqual({
      label,
      name,
      callId: 'c1',
    });
  });

  it.each([
    [{ exitCode: 1, signalCode: null, output: '' }, '1'],
    [{ exitCode: 0 }, '0'],
    [{ exitCode: null }, undefined],
    ['text', undefined],
  ])('knows of a call that gave %j the exit code %s', (output, exitCode) => {
    const ended = logOf(
      { type: 'session.created', data: { agentId: 'tester' } },
      { type: 'agent.tool_use', data: { callId: 'c1', name: 'shell_run', input: { command: 'false' }, spanId: 's1' } },
      { type: 'agent.tool_started', data: { callId: 'c1' } },
      { type: 'agent.tool_result', data: { callId: 'c1', name: 'shell_run', outcome: 'completed', output } },
    );
    const shown = timelineOf([...recordsOfSession(ended)]);
    const last = shown.last?.s ?? 0;
    const [call] = ofKind(shown.at(last).actors(), 'toolCall');
    expect([call?.status, call?.facts?.['exitCode'], call?.facts?.['label']]).toEqual(['done', exitCode, 'false']);
    expect(shown.at(last - 1).actor(call?.key ?? '')?.facts?.['exitCode']).toBeUndefined();
  });

  it('says what led to what', () => {
    const [run] = timeline.records({ text: 'requested|RUN|0' });
    expect(timeline.causeOf(run?.s ?? 0)).toMatchObject({ k: 'event', type: 'RUN' });
  });

  it('has nothing to tell of an empty log', () => {
    expect([...recordsOfSession([])]).toEqual([]);
  });
});

/**
 * A receiver on a free port, those who connect to it, and waiting for what is to be seen. Everything is ended with the
 * test.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { onTestFinished } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { InspectionRecording } from '../../../src/actors/inspection/inspection-source.ts';
import type { StatelyReceiverOptions } from '../../../src/adapters/stately/receiver-options.ts';
import type { StatelyReceiver } from '../../../src/adapters/stately/stately-receiver.ts';
import { createStatelyReceiver } from '../../../src/adapters/stately/stately-receiver.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { readRecord } from '../../../src/machines/inspection-log/read-record.ts';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import type { InspectionWorld } from '../../../src/machines/inspection-log/inspection-world.ts';

const WAIT_MS = 20_000;

export async function receiver(options: Partial<StatelyReceiverOptions> = {}): Promise<StatelyReceiver> {
  const problems: unknown[] = [];
  const made = await createStatelyReceiver({
    port: 0,
    clock: createSystemClock(),
    onProblem: (error) => problems.push(error),
    ...options,
  });
  onTestFinished(async () => {
    await made.close();
    if (problems.length > 0 && options.onProblem === undefined) throw problems[0];
  });
  return made;
}

/** Every record that can be had, each of which a reader takes. */
export async function recordsOf(recording: InspectionRecording, from = 1): Promise<readonly InspectionRecord[]> {
  const all: InspectionRecord[] = [];
  for await (const page of recording.records(from)) all.push(...page);
  for (const record of all) {
    const read = readRecord(JSON.parse(JSON.stringify(record)));
    if (!('record' in read) || read.unknownFields.length > 0)
      throw new Error(`no record: ${JSON.stringify(record)}: ${JSON.stringify(read)}`);
  }
  return all;
}

export async function worldOf(recording: InspectionRecording): Promise<InspectionWorld> {
  const timeline = new InspectionTimeline();
  timeline.append(await recordsOf(recording));
  return timeline.at(Infinity);
}

/** Waits, without checking a clock, until what is searched for is there. */
export async function until<Found>(
  recording: InspectionRecording,
  check: () => Promise<Found | undefined> | Found | undefined,
): Promise<Found> {
  return await new Promise<Found>((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(new Error('what was waited for never came'))), WAIT_MS);
    const leave = recording.follow(() => void again());
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      leave();
      settle();
    };
    const again = async (): Promise<void> => {
      try {
        const found = await check();
        if (found !== undefined) end(() => resolve(found));
      } catch (error) {
        end(() => reject(error instanceof Error ? error : new Error(String(error))));
      }
    };
    void again();
  });
}

/** A program that writes its frames itself. */
export async function connect(
  url: string,
  options: ConstructorParameters<typeof WebSocket>[2] = {},
): Promise<WebSocket> {
  const socket = new WebSocket(url, options);
  onTestFinished(() => socket.terminate());
  const failed = new Promise<never>((_resolve, reject) => {
    socket.once('error', reject);
  });
  await Promise.race([once(socket, 'open'), failed]);
  socket.on('error', () => undefined);
  return socket;
}

export const definition = JSON.stringify({
  id: 'door',
  initial: 'shut',
  states: { shut: { on: { OPEN: 'open' } }, open: { on: { CLOSE: 'shut' } } },
});

export function actorFrame(sessionId: string, more: object = {}): string {
  return JSON.stringify({
    type: '@xstate.actor',
    _version: '0.7.2',
    sessionId,
    name: 'door',
    definition,
    rootId: sessionId,
    createdAt: '1',
    id: null,
    snapshot: { status: 'active', value: 'shut', context: {} },
    ...more,
  });
}

export function snapshotFrame(sessionId: string, value: unknown, type: string, more: object = {}): string {
  return JSON.stringify({
    type: '@xstate.snapshot',
    _version: '0.7.2',
    sessionId,
    event: { type },
    snapshot: { status: 'active', value, context: {} },
    ...more,
  });
}

export function eventFrame(sessionId: string, event: object, more: object = {}): string {
  return JSON.stringify({ type: '@xstate.event', _version: '0.7.2', sessionId, event, ...more });
}

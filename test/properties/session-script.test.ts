/** A recorded script says what its session said: for random logs, and for those that every version wrote. */
import { readFile, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import { createScriptAgentRuntime } from '../../src/adapters/script/script-agent-runtime.ts';
import { parseScript } from '../../src/adapters/script/script-schema.ts';
import { placeEvent, readStoredEvent } from '../../src/machines/session/session-event.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { ScriptRecorder, scriptText } from '../../src/machines/session/session-script.ts';
import type { RecordedScript } from '../../src/machines/session/session-script.ts';
import { stepEvents } from '../../src/machines/turn/step-events.ts';
import { SESSION_ID } from '../support/session-events.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { legalLog, lenientLog } from './transcript-logs.ts';

const HISTORIES = fileURLToPath(new URL('../histories/', import.meta.url));

let home: TemporaryHome;
beforeAll(async () => {
  home = await temporaryHome();
});
afterAll(() => home.remove());

function recorded(events: readonly SessionEvent[]): RecordedScript {
  const recorder = new ScriptRecorder();
  for (const event of events) recorder.ingest(event);
  return recorder.get();
}

interface Said {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
}

/** What each model step of a log said, without those that said nothing. */
function saidIn(events: readonly SessionEvent[]): Said[] {
  const open = new Map<string, { texts: string[]; calls: Said['calls'][number][] }>();
  const said: Said[] = [];
  for (const { type, data } of events) {
    if (type === 'span.started' && data.kind === 'model_step') open.set(data.spanId, { texts: [], calls: [] });
    else if (type === 'agent.message') open.get(data.spanId)?.texts.push(data.text);
    else if (type === 'agent.tool_use' && data.by !== 'backend' && data.name !== '')
      open.get(data.spanId)?.calls.push({ name: data.name, input: data.input });
    else if (type === 'span.completed' && data.kind === 'model_step') {
      const { texts = [], calls = [] } = open.get(data.spanId) ?? {};
      open.delete(data.spanId);
      const text = texts.filter((each) => each !== '').join('\n\n');
      if (text !== '' || (data.outcome === 'completed' && calls.length > 0)) said.push({ text, calls });
    }
  }
  return said;
}

/** What a fresh session leaves in its log, step by step, when the script backend plays this. */
async function replayed(script: RecordedScript): Promise<Said[]> {
  const runtime = createScriptAgentRuntime({ clock: createSimulatedClock() });
  const file = join(home.path, 'recorded.json');
  await writeFile(file, scriptText(script));
  await utimes(file, new Date(0), new Date(0));
  const said: Said[] = [];
  for (let modelStepsTaken = 0; modelStepsTaken < script.steps.length; modelStepsTaken += 1) {
    const { payloads, meta } = await runtime.run({
      runId: 'r',
      sessionId: 's',
      provider: 'script',
      model: file,
      config: {},
      workspaceDir: home.path,
      agentDir: home.path,
      modelStepsTaken,
      messages: [],
    });
    let calls = 0;
    const { drafts } = stepEvents({
      spanId: 'span',
      payloads,
      error: meta?.error,
      modelSteps: 1,
      consumed: [],
      newCallId: () => `call_${(calls += 1)}`,
    });
    const text = drafts.flatMap((draft) => (draft.type === 'agent.message' ? [draft.data.text] : [])).join('\n\n');
    const asked = drafts.flatMap((draft) =>
      draft.type === 'agent.tool_use' ? [{ name: draft.data.name, input: draft.data.input }] : [],
    );
    if (text !== '' || asked.length > 0) said.push({ text, calls: asked });
  }
  return said;
}

async function expectSameAgain(events: readonly SessionEvent[]): Promise<void> {
  const script = recorded(events);
  const { notes = [], steps } = parseScript(scriptText(script), 'recorded.json');
  expect(JSON.parse(JSON.stringify({ notes, steps }))).toEqual(
    JSON.parse(JSON.stringify({ notes: script.notes ?? [], steps: script.steps })),
  );
  expect(await replayed(script)).toEqual(JSON.parse(JSON.stringify(saidIn(events))));
}

async function history(name: string): Promise<SessionEvent[]> {
  const records = (await readFile(join(HISTORIES, name), 'utf8')).split('\n').filter((line) => line !== '');
  const stored = records.flatMap((line) =>
    (JSON.parse(line) as { record: { events: unknown[] } }).record.events.flatMap(
      (event) => readStoredEvent(event) ?? [],
    ),
  );
  return stored.map((event, index) => placeEvent(event, SESSION_ID, index + 1));
}

describe('a recorded script, played in a fresh session', () => {
  it('says and asks for the same as any legal log', async () => {
    await fc.assert(
      fc.asyncProperty(legalLog, ({ events }) => expectSameAgain(events)),
      { numRuns: 60 },
    );
  });

  it('says and asks for the same as logs with events where no wake would write them', async () => {
    await fc.assert(
      fc.asyncProperty(lenientLog, ({ events }) => expectSameAgain(events)),
      { numRuns: 60 },
    );
  });

  it('says and asks for the same as the logs that every version wrote', async () => {
    const names = (await readdir(HISTORIES)).filter((name) => name.endsWith('.jsonl'));
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) await expectSameAgain(await history(name));
  });
});

/**
 * Logs with damage anywhere. What was acknowledged is all there or the log is refused. One of an older version, which
 * cannot tell: whatever still stands whole on its line is read, the doctor names the rest, and the session goes on.
 */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogRecord } from '../../src/machines/session/log-admission.ts';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { createIdSource } from '../../src/actors/session/id-source.ts';
import type { NewSessionEvents, SessionIdentity } from '../../src/actors/session/event-store.ts';
import { SessionJournal } from '../../src/actors/session/session-journal.ts';
import { FileEventStore } from '../../src/adapters/files/file-event-store.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { encodeRecord } from '../../src/adapters/files/record-codec.ts';
import { examineSession } from '../../src/adapters/files/session-examination.ts';
import { createNodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { damage, damaged, idsIn, linesOf } from './damaged-logs.ts';
import type { Damage, Line } from './damaged-logs.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 60);
const clock = createSystemClock();
const ids = createIdSource({ clock });

let home: TemporaryHome;
let identity: SessionIdentity;
/** As it was written, and as a version writes it that knows no chain. */
let chained: Buffer;
let log: Buffer;

/**
 * A log that a real session wrote: messages, wakes, tools, an interruption, and records that stand only behind a
 * certain event.
 */
beforeAll(async () => {
  home = await temporaryHome();
  await using runtime = await createNodeRuntime({ home: home.path });
  await runtime.agents.create({
    agentId: 'player',
    source: { frontmatter: { name: 'Player', provider: 'script', model: 'play.json' }, instructions: '' },
  });
  const steps = [
    { text: 'Grüße ☕', toolCalls: [{ name: 'shell_run', input: { command: 'echo one' } }] },
    {
      text: 'Two.',
      directive: { outcome: 'sleep', summary: 'Later.', queuedWakes: [{ reason: 'later', delaySeconds: 3600 }] },
    },
    { text: 'Three.' },
  ];
  await writeFile(join(home.path, 'agents/player/play.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));
  const { sessionId, agentId } = await runtime.sessions.create({ agentId: 'player' });
  identity = { sessionId, agentId };
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' }, { idempotencyKey: 'first' });
  await runtime.wake(sessionId);
  await makeCheckpoint();
  for (const text of ['a', 'b\n', '"c"']) await runtime.sessions.send(sessionId, { type: 'user.message', text });
  await runtime.wake(sessionId);
  await runtime.sessions.interrupt(sessionId, { reason: 'enough' });
  chained = await readFile(new HomeLayout(home.path).log(identity));
  log = Buffer.from(
    linesOf(chained)
      .lines.map(
        ({ text }) =>
          encodeRecord((JSON.parse(Buffer.from(text, 'latin1').toString()) as { readonly record: LogRecord }).record)
            .text,
      )
      .join(''),
  );
});
afterAll(() => home.remove());

/** In the middle of what will be the log. */
async function makeCheckpoint(): Promise<void> {
  const store = new FileEventStore({ home: home.path, clock, checkpointEvents: 4 });
  const { state } = await SessionJournal.open(identity.sessionId, { store, clock, ids });
  await store.saveView(state);
  expect((await store.checkpoint(identity.sessionId))?.head).toBe(state.head);
  await store.close();
}

/** Reads all of a session, in a store that knows nothing yet. */
async function idsRead(store: FileEventStore): Promise<string[]> {
  const events = await store.read(identity.sessionId);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  return events.map(({ id }) => id);
}

const newEvent = (id: string): NewSessionEvents => [
  { id, at: new Date(0).toISOString(), type: 'user.message', v: 2, data: { text: 'More.', delivery: 'queue' } },
];

interface Remains {
  readonly bytes: Buffer;
  /** The events on lines that are as they were, in order, each once. */
  readonly intact: readonly string[];
  /** The events of a last record that only wants its newline, which the next append brings. */
  readonly unended: readonly string[];
  /** Lines that say nothing any more. */
  readonly broken: readonly { readonly offset: number; readonly length: number }[];
  /** Whether lines are missing of which no part is left. */
  readonly hasGap: boolean;
}

function remainsOf(damages: readonly Damage[]): Remains {
  const original = new Set(linesOf(log).lines.map(({ text }) => text));
  const bytes = damages.reduce(damaged, log);
  const { lines, rest } = linesOf(bytes);
  const whole = lines.filter(({ text }) => original.has(text));
  const terminated = lines
    .filter(({ text }) => !original.has(text))
    .map(({ text, offset }) => ({ offset, length: text.length + 1 }));
  const broken = rest.text === '' ? terminated : [...terminated, { offset: rest.offset, length: rest.text.length }];
  const intact = new Set(whole.flatMap(idsIn));
  const unended = original.has(rest.text) ? idsIn(rest).filter((id) => !intact.has(id)) : [];
  return { bytes, intact: [...intact], unended, broken, hasGap: skipsLines([...original], lines) };
}

/**
 * Whether somewhere a line follows that is not the next one, with nothing broken between, or comes for the first time
 * after later ones.
 */
function skipsLines(original: readonly string[], lines: readonly Line[]): boolean {
  let next = 0;
  let isBroken = false;
  const seen = new Set<number>();
  for (const { text } of lines) {
    const place = original.indexOf(text);
    if (place !== -1 && place < next && !seen.has(place)) return true;
    seen.add(place);
    if (place > next && !isBroken) return true;
    if (place >= next) isBroken = false;
    if (place === -1) isBroken = true;
    next = Math.max(next, place + 1);
  }
  return false;
}

describe('a damaged log of an older version', () => {
  it(
    'gives every record that is whole, in order, and takes more; the doctor names every place that is not',
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 2 }), async (damages) => {
          const { bytes, intact, unended, broken, hasGap } = remainsOf(damages);
          // A record whose whole line is gone leaves no trace to tell it from one that never was: what stood behind it
          // only, does not count.
          fc.pre(!hasGap && intact.length > 0);
          const copy = await temporaryHome();
          const store = new FileEventStore({ home: copy.path, clock });
          try {
            await layOut(copy.path, bytes, true);
            const { damage: found } = await examineSession(copy.path, identity);
            expect(found.map(({ offset, length }) => ({ offset, length }))).toEqual(broken);
            const read = await idsRead(store);
            expect(read).toEqual(intact);
            const added = [ids.next(), ids.next()];
            for (const id of added) await store.append(identity.sessionId, newEvent(id));
            const after = await idsRead(store);
            expect(after.slice(-2)).toEqual(added);
            expect(after.slice(0, -2)).toEqual([...intact, ...unended]);
          } finally {
            await store.close();
            await copy.remove();
          }
        }),
        { numRuns: RUNS },
      );
    },
  );
});

describe('a damaged log', () => {
  it(
    'holds all that was acknowledged, or is refused by who reads it and named by the doctor',
    { timeout: 120_000 },
    async () => {
      const all = linesOf(chained).lines.flatMap(idsIn);
      await fc.assert(
        fc.asyncProperty(
          fc.array(damage, { minLength: 1, maxLength: 2 }),
          fc.boolean(),
          async (damages, hasCheckpoint) => {
            const bytes = damages.reduce(damaged, chained);
            const copy = await temporaryHome();
            const store = new FileEventStore({ home: copy.path, clock });
            try {
              await layOut(copy.path, bytes, false);
              const folder = dirname(new HomeLayout(copy.path).log(identity));
              if (!hasCheckpoint) await rm(join(folder, 'runtime/checkpoint.json'));
              const read = await idsRead(store).catch((error: unknown) => error);
              if (!Array.isArray(read)) {
                expect(read).toMatchObject({ code: 'SESSION_HISTORY_LOST' });
                expect((await examineSession(copy.path, identity)).loss).toBeDefined();
                if (!hasCheckpoint)
                  await expect(store.append(identity.sessionId, newEvent(ids.next()))).rejects.toMatchObject({
                    code: 'SESSION_HISTORY_LOST',
                  });
                return;
              }
              expect(read).toEqual(all);
            } finally {
              await store.close();
              await copy.remove();
            }
          },
        ),
        { numRuns: RUNS },
      );
    },
  );
});

async function layOut(to: string, bytes: Buffer, isAlone: boolean): Promise<void> {
  const path = new HomeLayout(to).log(identity);
  const from = dirname(new HomeLayout(home.path).log(identity));
  if (isAlone) await mkdir(dirname(path), { recursive: true });
  else await cp(from, dirname(path), { recursive: true });
  await rm(path, { force: true });
  await writeFile(path, bytes);
}

describe('a record that is void, behind one that is damaged', () => {
  it('does not cost what was to stand behind the damaged one', async () => {
    const copy = await temporaryHome();
    const store = new FileEventStore({ home: copy.path, clock });
    try {
      const [created, kept, lost, last] = [ids.next(), ids.next(), ids.next(), ids.next()];
      const start = encodeRecord({
        events: [
          {
            id: created,
            at: new Date(0).toISOString(),
            type: 'session.created',
            v: 1,
            data: { agentId: identity.agentId },
          },
        ],
      }).text;
      const first = encodeRecord({ events: newEvent(kept) }).text;
      const damagedLine = encodeRecord({ events: newEvent(lost) }).text.replace('More.', 'Less.');
      const behind = encodeRecord({ events: newEvent(last), after: lost }).text;
      await layOut(copy.path, Buffer.from(start + first + damagedLine + first + behind), true);
      expect(await idsRead(store)).toEqual([created, kept, last]);
    } finally {
      await store.close();
      await copy.remove();
    }
  });
});

/**
 * Writes a session's log as an export, and reads one back. What is read is checked to its last line before anything is
 * made of it.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import {
  EXPORT_BLOCK_LINES,
  EXPORT_FORMAT,
  exportFooter,
  exportHeader,
} from '../../machines/session/session-export.ts';
import type { ExportHeader } from '../../machines/session/session-export.ts';
import { asStored } from '../../machines/session/session-fork.ts';
import { readStoredEvent } from '../../machines/session/session-event.ts';
import type { NewSessionEvent } from '../../machines/session/session-event.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import type { Clock } from '../clock/clock.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import { ChainedHash } from './chained-hash.ts';
import type { EventStore, SessionIdentity } from './event-store.ts';
import { createFromLog } from './session-copies.ts';
import type { ImportOptions, ImportPorts } from './session-copies.ts';
import { SessionEvents } from './session-events.ts';

const CODE = 'SESSION_EXPORT_INVALID';

/** Each line ends with a newline. */
export async function* exportSession(
  sessionId: string,
  { store, clock }: { readonly store: EventStore; readonly clock: Clock },
): AsyncGenerator<string, void, undefined> {
  const { agentId } = await store.identify(sessionId);
  const head = await store.head(sessionId);
  const hash = new ChainedHash(EXPORT_BLOCK_LINES);
  const line = async (value: unknown): Promise<string> => {
    const text = `${JSON.stringify(value)}\n`;
    await hash.add(text);
    return text;
  };
  const header: ExportHeader = { format: EXPORT_FORMAT, sessionId, agentId, head, exportedAt: isoTimeOf(clock.now()) };
  yield await line(header);
  const noFollowers = { started: () => undefined, ended: () => undefined };
  for await (const event of new SessionEvents(store, sessionId, { limit: head }, noFollowers))
    yield await line({ seq: event.seq, ...asStored(event) });
  yield `${JSON.stringify({ events: head, sha256: await hash.digest() })}\n`;
}

/** @throws RuntimeError SESSION_EXPORT_INVALID, SESSION_EXISTS, AGENT_NOT_FOUND; nothing is made then */
export async function importSession(
  lines: AsyncIterable<string> | Iterable<string>,
  ports: ImportPorts,
  options: ImportOptions = {},
): Promise<SessionIdentity> {
  const { identity, events } = await readExport(lines);
  await createFromLog(identity, events, ports, options);
  return identity;
}

/** Reads an export to its end, as an import would. @throws RuntimeError SESSION_EXPORT_INVALID */
export async function checkExport(
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<SessionIdentity & { readonly events: number }> {
  const { identity, events } = await readExport(lines);
  return { ...identity, events: events.length };
}

interface Reading {
  readonly identity: SessionIdentity;
  readonly events: readonly [NewSessionEvent, ...NewSessionEvent[]];
}

async function readExport(lines: AsyncIterable<string> | Iterable<string>): Promise<Reading> {
  const hash = new ChainedHash(EXPORT_BLOCK_LINES);
  const events: NewSessionEvent[] = [];
  const known: Known = { ids: new Set(), epoch: 0, started: 0 };
  let header: ExportHeader | undefined;
  let reading: Reading | undefined;
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (reading !== undefined) {
      if (text.trim() === '') continue;
      throw invalid(`line ${number} of the export comes after its end`);
    }
    const value = parse(text, number);
    if (header === undefined)
      header = parseOrThrow(exportHeader, value, { what: `line ${number} of the export, its header,`, code: CODE });
    else if (events.length === header.head)
      reading = { identity: identityOf(header), events: await checkEnd(value, events, hash) };
    else events.push(checkEvent(value, { number, seq: events.length + 1, known, header }));
    await hash.add(text.endsWith('\n') ? text : `${text}\n`);
  }
  if (reading !== undefined) return reading;
  throw invalid(
    `expected ${header?.head ?? 'a header and'} events and a closing line, the export ends after line ${number}`,
  );
}

/** What the events before add up to, as far as it decides whether another one can follow. */
interface Known {
  readonly ids: Set<string>;
  /** The highest one. */
  epoch: number;
  /** The highest one that a wake has started. */
  started: number;
}

interface EventPlace {
  readonly number: number;
  readonly seq: number;
  readonly known: Known;
  readonly header: ExportHeader;
}

function checkEvent(value: unknown, { number, seq, known, header }: EventPlace): NewSessionEvent {
  const read = readStoredEvent(value);
  if (read === undefined || typeof value !== 'object' || value === null || !('seq' in value))
    throw invalid(`line ${number} of the export is not an event of a session`);
  if (value.seq !== seq)
    throw invalid(`expected event ${seq} on line ${number} of the export, received event ${String(value.seq)}`);
  const { id, at, epoch, type, v, data } = value as unknown as NewSessionEvent;
  const event: NewSessionEvent = { id, at, ...(epoch === undefined ? {} : { epoch }), type, v, data };
  if (!follows(event, known))
    throw invalid(`event ${seq} on line ${number} of the export repeats an earlier one, or has an epoch that was over`);
  const isBeginning =
    read.type === 'session.created' && (read.data as { readonly agentId: string }).agentId === header.agentId;
  if (seq === 1 && !isBeginning)
    throw invalid(`expected the first event to create a session of agent "${header.agentId}", received ${type}`);
  return event;
}

function follows({ id, epoch = 0, type }: NewSessionEvent, known: Known): boolean {
  const isStart = type === 'wake.started';
  if (known.ids.has(id) || (epoch > 0 && epoch < known.epoch) || (isStart && epoch <= known.started)) return false;
  known.ids.add(id);
  known.epoch = Math.max(known.epoch, epoch);
  if (isStart) known.started = epoch;
  return true;
}

async function checkEnd(
  value: unknown,
  [first, ...rest]: readonly NewSessionEvent[],
  hash: ChainedHash,
): Promise<Reading['events']> {
  const footer = parseOrThrow(exportFooter, value, { what: 'the last line of the export', code: CODE });
  const events = rest.length + 1;
  if (first === undefined || footer.events !== events)
    throw invalid(`expected ${footer.events} events, received ${events}`);
  if (footer.sha256 !== (await hash.digest()))
    throw invalid('its lines do not add up to its hash: it was changed or damaged');
  return [first, ...rest];
}

function parse(text: string, number: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`line ${number} of the export is not JSON: ${messageOf(error)}`);
  }
}

function identityOf({ sessionId, agentId }: ExportHeader): SessionIdentity {
  return { sessionId, agentId };
}

function invalid(what: string): RuntimeError {
  return new RuntimeError(CODE, what, {
    category: 'validation',
    hint: 'Export the session again; nothing was imported.',
  });
}

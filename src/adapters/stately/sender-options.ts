/** Checks where an inspection may be sent to, and says what would leave the machine. */
import * as z from 'zod';
import type { Clock } from '../../actors/clock/clock.ts';
import type { InspectionRecording } from '../../actors/inspection/inspection-source.ts';
import { namedSecrets } from '../../actors/inspection/learned-secrets.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { isLoopbackName } from '../system/loopback.ts';

export interface StatelySenderOptions {
  /** `wss://` to any host, `ws://` to this machine only. */
  readonly to: string;
  readonly recording: InspectionRecording;
  /** Number of the first record. Default: the oldest that is left. */
  readonly from?: number | undefined;
  /** Takes secrets out of every text once more, with what is known by now. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Secrets that `redact` does not know of, by name: the announcement of what leaves names them. */
  readonly unknownSecrets?: readonly string[] | undefined;
  readonly clock: Clock;
  /**
   * Is told what leaves the machine before anything does, and later what happens to the connection: whole lines. At
   * first it is waited for; when it throws then, nothing is sent.
   */
  readonly tell: (text: string) => void | Promise<void>;
  /**
   * Milliseconds between attempts to connect: the first, doubled up to the longest, each drawn from its upper half.
   * Default 500 and 30,000.
   */
  readonly retry?: { readonly firstMs?: number | undefined; readonly longestMs?: number | undefined } | undefined;
}

const MAX_ADDRESS_CHARACTERS = 2_000;
const MAX_DELAY_MS = 3_600_000;

const hasMethods =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function');
const isFunction = (value: unknown): boolean => typeof value === 'function';
const delay = (standard: number): z.ZodDefault<z.ZodInt> => z.int().min(1).max(MAX_DELAY_MS).default(standard);

const schema = z.strictObject({
  to: z.string().max(MAX_ADDRESS_CHARACTERS),
  recording: z.custom<StatelySenderOptions['recording']>(
    hasMethods('range', 'records', 'follow'),
    'expected an InspectionRecording',
  ),
  from: z.int().min(1).optional(),
  redact: z.custom<NonNullable<StatelySenderOptions['redact']>>(isFunction, 'expected a function').optional(),
  unknownSecrets: z.array(z.string()).readonly().default([]),
  clock: z.custom<StatelySenderOptions['clock']>(
    hasMethods('now', 'steadyNow', 'setTimeout', 'clearTimeout'),
    'expected a Clock',
  ),
  tell: z.custom<StatelySenderOptions['tell']>(isFunction, 'expected a function'),
  retry: z
    .strictObject({ firstMs: delay(500), longestMs: delay(30_000) })
    .refine(({ firstMs, longestMs }) => firstMs <= longestMs, 'expected firstMs to be no more than longestMs')
    .prefault({}),
});

export type CheckedSenderOptions = Readonly<z.output<typeof schema>> & { readonly address: URL };

/** @throws RuntimeError STATELY_SENDER_OPTIONS_INVALID, STATELY_SEND_REFUSED */
export function checkSenderOptions(options: unknown): CheckedSenderOptions {
  const checked = parseOrThrow(schema, options, {
    what: 'options of the Stately sender',
    code: 'STATELY_SENDER_OPTIONS_INVALID',
  });
  return { ...checked, address: sendAddress(checked.to) };
}

/** Where an inspection may be sent. @throws RuntimeError STATELY_SEND_REFUSED */
export function sendAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'wss:' && url.protocol !== 'ws:'))
    throw refused(
      'expected the address of a WebSocket, such as wss://inspector.example.com/room',
      'Begin it with wss://.',
    );
  if (url.username !== '' || url.password !== '')
    throw refused(
      'expected an address without a name and a password in it',
      'They would show in the list of processes. Use an address that holds a token of that inspector, if it gives one.',
    );
  if (url.hash !== '' || text.includes('#'))
    throw refused('expected an address without a part after #', 'Leave it out.');
  if (url.protocol === 'ws:' && !isLoopbackName(url.hostname))
    throw refused(
      `expected wss:// for ${url.host}: over ws:// every machine on the way could read what is sent`,
      'Use wss://. Only 127.0.0.1, [::1] and localhost may be ws://.',
    );
  return url;
}

function refused(message: string, hint: string): RuntimeError {
  return new RuntimeError('STATELY_SEND_REFUSED', message, { category: 'validation', hint });
}

/**
 * What a person has to know before anything is sent. The path and the query of the address may hold a token and are not
 * repeated.
 */
export function announcementOf({
  address,
  redact,
  unknownSecrets,
}: Pick<CheckedSenderOptions, 'address' | 'redact' | 'unknownSecrets'>): string {
  const isLocal = isLoopbackName(address.hostname);
  return [
    `Sending this inspection to ${address.host} (${address.protocol}//${isLocal ? ', a program on this machine' : ', encrypted on the way, outside this machine'}). What is sent:`,
    '  - everything that is recorded already, and what follows, until this command ends',
    '  - the names of actors, their parents, and the charts of their machines: names of states, events, guards and actions, and descriptions',
    '  - every event and every change of state, with its time',
    '  - payloads: fields of events, contexts and outputs, cut to a few thousand characters; secrets that were known when they were recorded are taken out',
    `  - ${secretsIn(redact, unknownSecrets)}`,
    'Not sent: facts about actors, actions, timers, emitted events, files, and no session but one that --session names.',
    `The operator of ${address.host} can read and keep it. Press Ctrl-C to stop.`,
  ].join('\n');
}

function secretsIn(redact: CheckedSenderOptions['redact'], unknown: readonly string[]): string {
  if (redact === undefined) return 'everything else as it is: no secrets are known here that could be taken out now';
  const rest = unknown.length === 0 ? '' : `; not known here, and so not taken out: ${namedSecrets(unknown)}`;
  return `everything else as it is, without the secrets that are known here now${rest}`;
}

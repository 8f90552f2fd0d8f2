/** Checks what the inspector is started with, and fills in what was left out. */
import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import * as z from 'zod';
import type { InspectionSource } from '../../actors/inspection/inspection-source.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { authorityOf, isLoopbackAddress } from '../system/loopback.ts';
import type { Place } from './place.ts';

/** Draws charts; which adapter does, the composition root decides. */
export interface ChartPictures {
  /** What the picture is known by, without drawing it: hexadecimal digits. */
  hash(chart: ChartDescription): string;
  /** A whole SVG document. */
  draw(chart: ChartDescription): Promise<string>;
}

interface InspectorLimits {
  /**
   * Connections at once; for one more, the one that has been silent longest is closed, or itself where none is. Default
   * 64.
   */
  readonly maxConnections?: number | undefined;
  /** Browsers that follow at once. Default 16. */
  readonly maxLiveStreams?: number | undefined;
  /** A client that reads nothing for so long is dropped. Default 30,000. */
  readonly stallMs?: number | undefined;
  /** A stream of live records says at least this often that it is there. Less than `stallMs`. Default 10,000. */
  readonly heartbeatMs?: number | undefined;
  /** A request has to arrive whole within it, and the source to answer. Default 10,000. */
  readonly requestMs?: number | undefined;
  /** Of a request. Default 2 MiB, which holds the longest answer however it is escaped. */
  readonly maxBodyBytes?: number | undefined;
}

/** Where it listens, for whom, and for how many. */
export interface InspectorAccess {
  /**
   * An address of this machine. Default 127.0.0.1. Any that others can reach is refused without
   * `exposeBeyondThisMachine`.
   */
  readonly host?: string | undefined;
  /** Default 0: a free one. */
  readonly port?: number | undefined;
  /**
   * Lets others on the network connect, unencrypted: a person who can listen to the network can read what is shown and
   * answer in your name. The names are those by which browsers may call this machine.
   */
  readonly exposeBeyondThisMachine?: { readonly hostNames: readonly string[] } | undefined;
  readonly limits?: InspectorLimits | undefined;
}

export interface InspectorOptions extends InspectorAccess {
  readonly source: InspectionSource;
  readonly pictures: ChartPictures;
  /** Absolute path of the folder with the page: `index.html` and what it needs. Without one there is only the API. */
  readonly pageDirectory?: string | undefined;
  /** Hears what clients are not told: why something inside failed. */
  readonly onProblem: (error: unknown) => void;
}

const MAX_HOST_NAMES = 16;
const MAX_TIMER_MS = 2_147_483_647;

/** What every `*.localhost` leads to. */
const LOCALHOST: ReadonlySet<string> = new Set(['127.0.0.1', '::1']);

const milliseconds = z.int().min(1).max(MAX_TIMER_MS);

const limits = z
  .strictObject({
    maxConnections: z.int().min(1).max(10_000).default(64),
    maxLiveStreams: z.int().min(1).max(10_000).default(16),
    stallMs: milliseconds.default(30_000),
    heartbeatMs: milliseconds.default(10_000),
    requestMs: milliseconds.default(10_000),
    maxBodyBytes: z
      .int()
      .min(1)
      .max(64 * 1024 * 1024)
      .default(2 * 1024 * 1024),
  })
  .refine(
    ({ heartbeatMs, stallMs }) => heartbeatMs < stallMs,
    'expected heartbeatMs to be less than stallMs: a quiet stream would count as stalled',
  );

const hostName = z
  .string()
  .max(253)
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:]+\])$/,
    'expected a host name or address in lower case, without a port',
  );

const hasMethods =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function');

const schema = z
  .strictObject({
    source: z.custom<InspectorOptions['source']>(
      hasMethods(
        'about',
        'range',
        'records',
        'follow',
        'chart',
        'recordingOf',
        'sessions',
        'session',
        'events',
        'processes',
        'changes',
        'answer',
      ),
      'expected an InspectionSource',
    ),
    pictures: z.custom<ChartPictures>(
      hasMethods('hash', 'draw'),
      'expected an object with the functions hash and draw',
    ),
    pageDirectory: z
      .string()
      .max(4_096)
      .refine((path) => isAbsolute(path) && !path.includes('\0'), 'expected an absolute path')
      .optional(),
    host: z
      .string()
      .refine((host) => isIP(host) !== 0, 'expected an IP address of this machine, such as 127.0.0.1')
      .default('127.0.0.1'),
    port: z.int().min(0).max(65_535).default(0),
    exposeBeyondThisMachine: z.strictObject({ hostNames: z.array(hostName).min(1).max(MAX_HOST_NAMES) }).optional(),
    limits: limits.prefault({}),
    onProblem: z.custom<InspectorOptions['onProblem']>((value) => typeof value === 'function', 'expected a function'),
  })
  .refine(({ host, exposeBeyondThisMachine }) => isLoopbackAddress(host) || exposeBeyondThisMachine !== undefined, {
    path: ['host'],
    message:
      'expected 127.0.0.1 or ::1: others on the network could connect to any other address. Only exposeBeyondThisMachine allows that',
  });

export type CheckedInspectorOptions = Readonly<z.output<typeof schema>>;

/** @throws RuntimeError INSPECTOR_OPTIONS_INVALID */
export function checkOptions(options: unknown): CheckedInspectorOptions {
  return parseOrThrow(schema, options, {
    what: 'options of the inspector',
    code: 'INSPECTOR_OPTIONS_INVALID',
    hint: 'Leave host and port out for a free port that only this machine reaches.',
  });
}

/** How browsers are told to call it: every address at once is none that they could. */
export function hostOf({ host, exposeBeyondThisMachine }: CheckedInspectorOptions): string {
  return isLoopbackAddress(host) ? host : (exposeBeyondThisMachine?.hostNames[0] ?? host);
}

/**
 * How the browser that signs in is told to call it: by the name of the place, where that leads to the address on which
 * it listens.
 */
export function placedHostOf(options: CheckedInspectorOptions, { name }: Place): string {
  return LOCALHOST.has(options.host) ? name : hostOf(options);
}

/**
 * What the Host header may say. The address and `localhost` too: not every program and browser knows the names below
 * `localhost`.
 */
export function allowedHosts(options: CheckedInspectorOptions, { name }: Place, port: number): ReadonlySet<string> {
  const loopback = isLoopbackAddress(options.host) ? options.host : '127.0.0.1';
  const all = [name, loopback, 'localhost', ...(options.exposeBeyondThisMachine?.hostNames ?? [])].map((each) =>
    authorityOf(each, port),
  );
  // Browsers leave out the port that HTTP has by default.
  return new Set(port === 80 ? [...all, ...all.map((authority) => authority.replace(/:80$/, ''))] : all);
}

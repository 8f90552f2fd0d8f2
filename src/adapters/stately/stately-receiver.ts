/**
 * Lets other XState programs show themselves, which connect with `createWebSocketInspector`: listens on loopback, lets in
 * who may, and keeps count.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { InspectionRecording, InspectionSource } from '../../actors/inspection/inspection-source.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { authorityOf } from '../system/loopback.ts';
import { closerOf, listening } from '../system/web-server.ts';
import type { WebServerOptions } from '../system/web-server.ts';
import type { StatelyReceiverStatistics } from './received-programs.ts';
import { ReceivedPrograms } from './received-programs.ts';
import type { CheckedReceiverOptions, StatelyReceiverOptions } from './receiver-options.ts';
import { checkReceiverOptions } from './receiver-options.ts';
import { encodedBoot, RECORDING_HEADER } from './recording-header.ts';

// What was received, as a source for the inspector: its recording, beside the sessions of another source where there is
// one.

interface StatelySourceParts {
  readonly url: string;
  readonly programs: ReceivedPrograms;
  readonly base: InspectionSource | undefined;
}

function statelySource({ url, programs, base }: StatelySourceParts): InspectionSource {
  const { recording } = programs;
  return {
    header: recording.header,
    range: () => recording.range(),
    records: (from) => recording.records(from),
    follow: (listener) => recording.follow(listener),
    chart: (id) => recording.chart(id),
    about: () => aboutOf({ url, programs, base }),
    recordingOf: async (sessionId) => base?.recordingOf(sessionId),
    sessions: async (options) => (base === undefined ? { sessions: [], total: 0 } : base.sessions(options)),
    session: async (sessionId) => base?.session(sessionId),
    events: async (sessionId, options) => base?.events(sessionId, options),
    processes: async (sessionId) => (base === undefined ? [] : base.processes(sessionId)),
    changes: async (sessionId) => (base === undefined ? [] : base.changes(sessionId)),
    answer: async (sessionId, answer) => {
      if (base !== undefined) return base.answer(sessionId, answer);
      throw new RuntimeError(
        'INSPECTOR_NO_SESSIONS',
        'expected a home with sessions, and there is none: only other programs are shown here',
        { category: 'not_found', hint: 'Start wakechart inspect with --home.' },
      );
    },
    farProcesses: base?.farProcesses?.bind(base),
    endProcess: base?.endProcess?.bind(base),
    command: base?.command,
    schedules: base?.schedules,
    speech: base?.speech,
  };
}

function aboutOf({ url, programs, base }: StatelySourceParts): ReturnType<InspectionSource['about']> {
  const about = base?.about();
  return {
    kind: 'runtime',
    ...(about?.home === undefined ? {} : { home: about.home }),
    title: about === undefined ? `XState programs at ${url}` : `XState programs at ${url}, and ${about.title}`,
    hasSessions: about?.hasSessions ?? false,
    canAnswer: about?.canAnswer ?? false,
    ...(about?.canWake === true ? { canWake: true } : {}),
    notes: [...programs.notes, ...(about?.notes ?? [])],
    hasEnded: programs.isClosed,
  };
}

// Who may connect: programs of this machine, and pages of the origins that were named.

interface Refused {
  readonly status: number;
  readonly because: string;
}

interface Admission {
  readonly options: CheckedReceiverOptions;
  readonly port: number;
  /** Of what is received here. */
  readonly boot: string;
  /** Programs that are connected. */
  readonly connected: number;
}

/** @returns undefined for who may */
function admit(
  { headers, rawHeaders, method }: IncomingMessage,
  { options, port, boot, connected }: Admission,
): Refused | undefined {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket')
    return { status: 400, because: 'expected a WebSocket to be opened with GET' };
  // A page of another site whose name was made to lead here, which is DNS rebinding, sends that name.
  const hosts = [options.host, 'localhost'].map((name) => authorityOf(name, port));
  if (headers.host === undefined || !hosts.includes(headers.host.toLowerCase()) || countOf(rawHeaders, 'host') > 1)
    return { status: 421, because: `expected the Host header to be ${hosts.join(' or ')}` };
  const { origin } = headers;
  if (origin !== undefined && (!options.origins.includes(origin) || countOf(rawHeaders, 'origin') > 1)) {
    return {
      status: 403,
      because:
        'pages may connect only from origins that were named: start the inspector with --stately-origin and the origin of the page; programs that send no Origin header need none',
    };
  }
  if (headers[RECORDING_HEADER] === encodedBoot(boot))
    return { status: 508, because: 'this recording is sent to where it is received: it would go round for ever' };
  if (connected >= options.limits.connections)
    return { status: 503, because: `expected at most ${options.limits.connections} programs at once` };
  return undefined;
}

function countOf(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((each, index) => index % 2 === 0 && each.toLowerCase() === name).length;
}

export interface StatelyReceiver extends AsyncDisposable {
  /** What programs connect to: `ws://127.0.0.1:8080`. */
  readonly url: string;
  readonly statistics: StatelyReceiverStatistics;
  /** What was received. It stays after `close`. */
  readonly recording: InspectionRecording;
  /** As a source for the inspector. @param base whose sessions are shown beside the programs; none without it */
  source(base?: InspectionSource): InspectionSource;
  /** Disconnects all and frees the port. Idempotent. */
  close(): Promise<void>;
}

/** A connection has to say what it wants within it. */
const HANDSHAKE_MS = 5_000;
const MAX_TITLE_CHARACTERS = 80;
/** Sockets that have not said yet what they want. */
const MORE_SOCKETS = 16;

/**
 * Starts listening.
 * @throws RuntimeError STATELY_OPTIONS_INVALID, STATELY_PORT_TAKEN, STATELY_CANNOT_LISTEN
 */
export async function createStatelyReceiver(given: StatelyReceiverOptions): Promise<StatelyReceiver> {
  const options = checkReceiverOptions(given);
  const { limits } = options;
  const onProblem = quiet(options.onProblem);
  const programs = new ReceivedPrograms({ ...options, onProblem, boot: randomBytes(4).toString('hex') });
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.frameBytes,
    perMessageDeflate: false,
    clientTracking: false,
    autoPong: true,
  });
  const server = createServer(
    {
      requestTimeout: HANDSHAKE_MS,
      headersTimeout: HANDSHAKE_MS,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 1_000,
    },
    answerPlainly,
  );
  server.maxConnections = limits.connections + MORE_SOCKETS;
  server.timeout = HANDSHAKE_MS;
  const port = await listening(server, options, cannotListen(options));
  server.on('error', onProblem);
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const refusal = programs.isClosed
      ? { status: 503, because: 'this receiver is closing' }
      : admit(request, { options, port, boot: programs.recording.header.boot, connected: programs.connected });
    if (refusal !== undefined) {
      programs.refuse(request);
      refuse(socket, refusal.status, refusal.because);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => programs.add(webSocket, titleOf(request)));
  });
  const url = `ws://${authorityOf(options.host, port)}`;
  const end = closerOf(server);
  const close = (): Promise<void> => {
    programs.close();
    return end();
  };
  return {
    url,
    recording: programs.recording,
    get statistics() {
      return programs.statistics;
    },
    source: (base) => statelySource({ url, programs, base }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function cannotListen({ host, port }: CheckedReceiverOptions): WebServerOptions['cannotListen'] {
  return (cause, isTaken) =>
    isTaken
      ? new RuntimeError('STATELY_PORT_TAKEN', `port ${port} of ${host} is taken by another program`, {
          category: 'conflict',
          hint: 'Choose another with --stately-port, and give the programs its address: createWebSocketInspector({ url }).',
          cause,
        })
      : new RuntimeError(
          'STATELY_CANNOT_LISTEN',
          `cannot listen on port ${port} of ${host} (${systemCodeOf(cause) ?? 'no reason was given'})`,
          { category: 'permission', hint: 'Choose a port above 1023.', cause },
        );
}

/** Programs may say who they are: `ws://127.0.0.1:8080/?program=checkout`. */
function titleOf({ url = '/' }: IncomingMessage): string | undefined {
  const mark = url.indexOf('?');
  const name = mark === -1 ? null : new URLSearchParams(url.slice(mark + 1)).get('program');
  return name === null || name.trim() === '' ? undefined : beginningOf(name.trim(), MAX_TITLE_CHARACTERS);
}

function answerPlainly(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(426, {
    'content-type': 'text/plain; charset=utf-8',
    upgrade: 'websocket',
    connection: 'close',
    'x-content-type-options': 'nosniff',
  });
  response.end('XState programs connect here: createWebSocketInspector({ url }). There is no page.\n');
}

function refuse(socket: Duplex, status: number, because: string): void {
  const body = `${because}\n`;
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

function quiet(report: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      report(error);
    } catch {
      // No client is left to tell.
    }
  };
}

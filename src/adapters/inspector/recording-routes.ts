/**
 * What is checked through time: the records, those that come, and the charts, of the main recording or of that of one
 * session.
 */
import { pipeline } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { InspectionRecording } from '../../actors/inspection/inspection-source.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { DrawnAhead } from './drawn-ahead.ts';
import type { CheckedInspectorOptions } from './inspector-options.ts';
import { sendLive } from './live-route.ts';
import { PacedStream } from './paced-stream.ts';
import { portionsOf } from './record-text.ts';
import { Refusal } from './refusal.ts';
import { parametersOf } from './request-gate.ts';
import type { Exchange } from './respond.ts';
import { begin, sendJson, sendTagged, takesGzip } from './respond.ts';
import type { Route, Visit } from './route.ts';
import { READING, sequenceNumber, sessionNamed, sessionUnknown, soon } from './route.ts';

const MAX_CHART_ID_CHARACTERS = 500;

export class RecordingRoutes {
  readonly #options: CheckedInspectorOptions;
  readonly #ahead: DrawnAhead;
  #liveStreams = 0;

  constructor(options: CheckedInspectorOptions, ahead: DrawnAhead) {
    this.#options = options;
    this.#ahead = ahead;
  }

  get all(): readonly Route[] {
    return [
      { pattern: /^\/api\/about$/, methods: READING, answer: (visit) => this.#about(visit) },
      { pattern: /^\/api\/records$/, methods: READING, answer: (visit) => this.#records(visit) },
      { pattern: /^\/api\/live$/, methods: READING, answer: (visit) => this.#live(visit) },
      { pattern: /^\/api\/charts\/([^/]+)\.svg$/, methods: READING, answer: (visit) => this.#picture(visit) },
      { pattern: /^\/api\/charts\/([^/]+)$/, methods: READING, answer: (visit) => this.#chart(visit) },
    ];
  }

  async #about({ query, ...exchange }: Visit): Promise<void> {
    parametersOf(query, []);
    const { source } = this.#options;
    sendJson(exchange, 200, { ...source.about(), range: source.range(), header: source.header });
  }

  async #records({ query, ...exchange }: Visit): Promise<void> {
    const { from = '1', session } = parametersOf(query, ['from', 'session']);
    const first = sequenceNumber(from);
    return sendRecords(exchange, { recording: await this.#recording(session), ahead: this.#ahead, from: first });
  }

  async #live({ query, ...exchange }: Visit): Promise<void> {
    const { from, session } = parametersOf(query, ['from', 'session']);
    const { maxLiveStreams, heartbeatMs } = this.#options.limits;
    const lastEventId = exchange.request.headers['last-event-id'];
    const start = from === undefined ? undefined : sequenceNumber(from);
    if (this.#liveStreams >= maxLiveStreams) {
      throw new Refusal(503, 'INSPECTOR_TOO_MANY_FOLLOWERS', `at most ${maxLiveStreams} may follow at once`, {
        hint: 'Close another tab.',
        headers: { 'retry-after': '5' },
      });
    }
    // Before anything is waited for: many who come at once are as many.
    this.#liveStreams += 1;
    try {
      await sendLive(exchange, {
        recording: await this.#recording(session),
        ahead: this.#ahead,
        from: start,
        lastEventId: lastEventId === undefined ? undefined : String(lastEventId),
        heartbeatMs,
        speech: session === undefined ? undefined : this.#options.source.speech?.(session),
      });
    } finally {
      this.#liveStreams -= 1;
    }
  }

  async #chart({ query, name, ...exchange }: Visit): Promise<void> {
    const chart = await this.#chartOf(name, query);
    return sendTagged(exchange, this.#options.pictures.hash(chart), async () => JSON.stringify(chart), {
      'content-type': 'application/json; charset=utf-8',
    });
  }

  async #picture({ query, name, ...exchange }: Visit): Promise<void> {
    const chart = await this.#chartOf(name, query);
    const { pictures, limits } = this.#options;
    return sendTagged(exchange, pictures.hash(chart), () => soon(pictures.draw(chart), limits.requestMs), {
      'content-type': 'image/svg+xml; charset=utf-8',
    });
  }

  async #chartOf(id: string, query: URLSearchParams): Promise<ChartDescription> {
    const { session } = parametersOf(query, ['session']);
    const recording = await this.#recording(session);
    const chart = id.length > MAX_CHART_ID_CHARACTERS ? undefined : recording.chart(id);
    if (chart === undefined)
      throw new Refusal(404, 'INSPECTOR_CHART_UNKNOWN', 'no chart of this id was recorded', {
        hint: 'The records of kind "machine" name those that were.',
      });
    return chart;
  }

  /** @param session id of the session whose recording is meant; the main one where there is none */
  async #recording(session: string | undefined): Promise<InspectionRecording> {
    const { source, limits } = this.#options;
    if (session === undefined) return source;
    const recording = await soon(source.recordingOf(sessionNamed(session)), limits.requestMs);
    if (recording === undefined) throw sessionUnknown();
    return recording;
  }
}

// What was recorded, as an inspection log: a header and one record a line, compressed where the client takes that.

/** Records come faster than the best compression does, and loopback is wide. */
const LEVEL = constants.Z_BEST_SPEED;

interface RecordsOptions {
  readonly recording: InspectionRecording;
  readonly ahead: DrawnAhead;
  readonly from: number;
}

/**
 * Everything from number `from` to what is the newest now. Cut off rather than ended when the recording fails on the
 * way.
 */
async function sendRecords(exchange: Exchange, { recording, ahead, from }: RecordsOptions): Promise<void> {
  const { last } = recording.range();
  const { request, response } = exchange;
  const isCompressed = takesGzip(request.headers['accept-encoding']);
  begin(exchange, 200, {
    'content-type': 'application/x-ndjson; charset=utf-8',
    vary: 'accept-encoding',
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
  });
  if (request.method === 'HEAD') return void response.end();
  const gzip = isCompressed ? createGzip({ level: LEVEL }) : undefined;
  // It ends both when either breaks, which the stream below learns of.
  if (gzip !== undefined) pipeline(gzip, response, () => undefined);
  const stream = new PacedStream(response, gzip);
  await stream.write(`${JSON.stringify(recording.header)}\n`);
  let next = from;
  for await (const page of stream.until(recording.records(from))) {
    ahead.see(page);
    for (const portion of portionsOf(page, { from: next, to: last })) {
      await stream.write(`${portion.texts.join('\n')}\n`);
      next = portion.last + 1;
    }
    if (next > last) break;
  }
  stream.end();
}

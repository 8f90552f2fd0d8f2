/** What was recorded, as an inspection log: a header and one record a line, compressed where the client takes that. */
import { pipeline } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { InspectionRecording } from '../../actors/inspection/inspection-source.ts';
import { PacedStream } from './paced-stream.ts';
import { portionsOf } from './record-text.ts';
import { begin, takesGzip } from './respond.ts';
import type { Exchange } from './respond.ts';

/** Records come faster than the best compression does, and loopback is wide. */
const LEVEL = constants.Z_BEST_SPEED;

export interface RecordsOptions {
  readonly recording: InspectionRecording;
  readonly from: number;
}

/**
 * Everything from number `from` to what is the newest now. Cut off rather than ended when the recording fails on the
 * way.
 */
export async function sendRecords(exchange: Exchange, { recording, from }: RecordsOptions): Promise<void> {
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
    for (const portion of portionsOf(page, { from: next, to: last })) {
      await stream.write(`${portion.texts.join('\n')}\n`);
      next = portion.last + 1;
    }
    if (next > last) break;
  }
  stream.end();
}

/** A running inspector, and clients that speak HTTP to it as browsers do, or as none should. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { diagramHash } from '../../../src/adapters/diagram/diagram-hash.ts';
import { renderChart } from '../../../src/adapters/diagram/render-chart.ts';
import type { InspectionSource } from '../../../src/actors/inspection/inspection-source.ts';
import type { InspectorOptions } from '../../../src/adapters/inspector/inspector-options.ts';
import type { InspectorServer } from '../../../src/adapters/inspector/inspector-server.ts';
import { startInspector } from '../../../src/adapters/inspector/inspector.ts';
import { RecordedSource } from './recorded-source.ts';

export interface Inspected<Source extends InspectionSource = InspectionSource> {
  readonly server: InspectorServer;
  readonly source: Source;
  readonly problems: unknown[];
  readonly port: number;
  /** Path of the place where everything lies, without the slash at its end. */
  readonly place: string;
  /** Of a browser that has signed in. */
  readonly cookie: string;
  /** One request of that browser within the place, unless other headers are given. */
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** Like `ask`, without waiting for the body. */
  open(path: string, options?: AskOptions): Promise<IncomingMessage>;
  /** Everything that comes back for these bytes, until the connection ends. */
  raw(text: string): Promise<string>;
  socket(): Promise<Socket>;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** As a browser that has not signed in. */
  readonly isStranger?: boolean;
  /** The path is from the root of the server, not from that of the place. */
  readonly isOutside?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
}

/** @param options `source`: default a RecordedSource */
export async function inspected<Source extends InspectionSource = RecordedSource>(
  options: Partial<InspectorOptions> & { readonly source?: Source } = {},
): Promise<Inspected<Source>> {
  const problems: unknown[] = [];
  // Where another kind is asked for, it is given.
  const source = options.source ?? (new RecordedSource() as InspectionSource as Source);
  const server = await startInspector({
    pictures: { hash: diagramHash, draw: renderChart },
    onProblem: (problem) => void problems.push(problem),
    ...options,
    source,
  });
  onTestFinished(() => server.close());
  const port = Number(new URL(server.origin).port);
  const address = server.signInAddress();
  const place = new URL(address).pathname.slice(0, -1);
  const cookie = await signIn(port, address);
  const open = (path: string, asked: AskOptions = {}): Promise<IncomingMessage> =>
    exchange(port, asked.isOutside === true ? path : place + path, {
      ...asked,
      headers: { ...(asked.isStranger === true ? {} : { cookie }), ...asked.headers },
    });
  return {
    server,
    source,
    problems,
    port,
    place,
    cookie,
    open,
    ask: async (path, asked) => answerOf(await open(path, asked)),
    raw: async (text) => rawAnswer(await connected(port), text),
    socket: () => connected(port),
  };
}

/** The Cookie header that an address is good for. */
async function signIn(port: number, address: string): Promise<string> {
  const { pathname, search } = new URL(address);
  const { headers } = await answerOf(await exchange(port, pathname + search, {}));
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}

async function exchange(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: AskOptions,
): Promise<IncomingMessage> {
  const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // A connection that breaks after the response began is told through the body.
  request.on('error', () => undefined);
  return response;
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return { status: response.statusCode ?? 0, headers: response.headers, bytes, text: bytes.toString() };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function rawAnswer(socket: Socket, text: string): Promise<string> {
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  socket.on('error', () => undefined);
  socket.write(text);
  await once(socket, 'close');
  return received;
}

export interface LiveEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string | undefined;
  /** A comment, as a heartbeat is. */
  readonly isComment: boolean;
}

/** Server-sent events, one after the other. */
export async function* eventsOf(response: IncomingMessage): AsyncGenerator<LiveEvent> {
  let rest = '';
  for await (const chunk of response) {
    rest += (chunk as Buffer).toString();
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]),
      );
      yield { id: fields.get('id'), event: fields.get('event'), data: fields.get('data'), isComment: fields.has('') };
    }
  }
}

/** The numbers of the records in an event. */
export function numbersIn({ data = '[]' }: LiveEvent): number[] {
  return (JSON.parse(data) as { readonly s: number }[]).map(({ s }) => s);
}

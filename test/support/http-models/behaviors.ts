/** What fixture models do: answer well, badly, slowly, half or not at all. */
import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Behavior, Exchange } from './model-server.ts';
import type { AnswerEnd, Said, WireError } from './protocol.ts';

const STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' } as const;

/** The model says all of it and ends. */
export function answers(said: readonly Said[], end: AnswerEnd = {}): Behavior {
  return async (exchange) => {
    const { protocol, request, response } = exchange;
    if (!request.isStreamed && protocol.whole !== undefined)
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(protocol.whole(end, said));
    await send(begun(exchange), [...sayingAll(exchange, said), ...protocol.closing(end, said)].join(''));
    response.end();
  };
}

/** The same, each event in a write of its own. */
export function answersByEvent(said: readonly Said[], end: AnswerEnd = {}): Behavior {
  return async (exchange) => {
    const response = begun(exchange);
    for (const event of [...sayingAll(exchange, said), ...exchange.protocol.closing(end, said)])
      await send(response, event);
    response.end();
  };
}

/** The same, cut into pieces of so many bytes, wherever that is. */
export function answersInBytes(size: number, said: readonly Said[], end: AnswerEnd = {}): Behavior {
  return async (exchange) => {
    const response = begun(exchange);
    response.socket?.setNoDelay(true);
    const bytes = Buffer.from([...sayingAll(exchange, said), ...exchange.protocol.closing(end, said)].join(''));
    for (let at = 0; at < bytes.length; at += size) await send(response, bytes.subarray(at, at + size));
    response.end();
  };
}

/** Says something, waits until it may go on, and says the rest. */
export function answersWithPause(first: readonly Said[], release: Promise<void>, rest: readonly Said[]): Behavior {
  return async (exchange) => {
    const response = begun(exchange);
    await send(response, sayingAll(exchange, first).join(''));
    await release;
    const { protocol } = exchange;
    await send(
      response,
      [
        ...rest.flatMap((each, index) => protocol.saying(each, first.length + index)),
        ...protocol.closing({}, [...first, ...rest]),
      ].join(''),
    );
    response.end();
  };
}

/** Says something, and then exactly this instead of what should come. */
export function says(said: readonly Said[], then: (exchange: Exchange) => string): Behavior {
  return async (exchange) => {
    await send(begun(exchange), sayingAll(exchange, said).join('') + then(exchange));
    exchange.response.end();
  };
}

export function failsInMidStream(said: readonly Said[], error: (exchange: Exchange) => WireError): Behavior {
  return says(said, (exchange) => exchange.protocol.streamedError(error(exchange)));
}

/** Says something, ends what it says, and leaves out how the answer ends. */
export function truncates(said: readonly Said[]): Behavior {
  return says(said, () => '');
}

/** Says something, and then nothing any more, without ending. */
export function hangsAfter(said: readonly Said[]): Behavior {
  return async (exchange) => {
    await send(begun(exchange), sayingAll(exchange, said).join(''));
  };
}

export const hangs: Behavior = () => undefined;

/** Says something, and cuts the connection. */
export function dropsAfter(said: readonly Said[]): Behavior {
  return async (exchange) => {
    await send(begun(exchange), sayingAll(exchange, said).join(''));
    exchange.response.socket?.destroy();
  };
}

export const drops: Behavior = ({ response }) => {
  response.socket?.resetAndDestroy();
};

export interface HttpFailure {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders | undefined;
  /** Default: none. */
  readonly body?: string | ((exchange: Exchange) => string) | undefined;
}

export function failsWith({ status, headers = {}, body = '' }: HttpFailure): Behavior {
  return (exchange) => {
    exchange.response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(typeof body === 'string' ? body : body(exchange));
  };
}

export function failsWithError(status: number, error: WireError, headers: OutgoingHttpHeaders = {}): Behavior {
  return failsWith({ status, headers, body: ({ protocol }) => protocol.errorBody(error) });
}

function begun({ response }: Exchange): ServerResponse {
  return response.writeHead(200, STREAM);
}

function sayingAll({ protocol, request }: Exchange, said: readonly Said[]): readonly string[] {
  return [...protocol.opening(request.model), ...said.flatMap((each, index) => protocol.saying(each, index))];
}

/** Waits until there is room for more, or nobody who reads it. */
async function send(response: ServerResponse, data: string | Buffer): Promise<void> {
  if (response.destroyed || response.write(data)) return;
  const settled = new AbortController();
  await Promise.race([
    once(response, 'drain', { signal: settled.signal }),
    once(response, 'close', { signal: settled.signal }),
  ]).finally(() => settled.abort());
}

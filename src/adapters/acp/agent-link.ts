/** The connection to an agent: asks it, answers it, and ends all waits once a caller says that it is over. */
import type { ClientConnection } from '@agentclientprotocol/sdk';
import { messageOf } from '../../machines/errors.ts';
import type { AgentMessages } from './agent-messages.ts';
import type { AcpSdk } from './load-sdk.ts';

const CLIENT_NAME = 'wakechart';

/** JSON-RPC: what was asked for cannot be, as it was asked. */
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;
const NOT_FOUND = -32_002;

const CODES = { invalid: INVALID_PARAMS, failed: INTERNAL_ERROR, missing: NOT_FOUND } as const;

/** What an agent is told when it does not get what it asked us for. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly code: number;

  constructor(why: keyof typeof CODES, message: string) {
    super(message);
    this.code = CODES[why];
  }
}

/** What agents may ask us. The parameters have the shape that the protocol gives them. */
type Answerer<Method extends ClientMethod> = (
  params: Parameters<import('@agentclientprotocol/sdk').ClientRequestHandlersByMethod[Method]>[0]['params'],
) => Promise<unknown>;
type ClientMethod = keyof import('@agentclientprotocol/sdk').ClientRequestHandlersByMethod;
export type Answerers = { readonly [Method in ClientMethod]?: Answerer<Method> };

export class AgentLink {
  readonly #connection: ClientConnection;
  readonly #over: Promise<never>;
  #end: (reason: Error) => void = () => undefined;

  constructor(sdk: AcpSdk, messages: AgentMessages, answerers: Answerers) {
    this.#over = new Promise<never>((_, reject) => {
      this.#end = reject;
    });
    // No caller may be waiting when it ends.
    this.#over.catch(() => undefined);
    const app = sdk.client({ name: CLIENT_NAME });
    for (const [method, answer] of Object.entries(answerers))
      register(app, method as ClientMethod, safely(sdk, answer));
    this.#connection = app.connect(messages.stream);
  }

  /** @throws what the agent answered, or why it is over */
  async request(method: string, params: object): Promise<unknown> {
    return Promise.race([this.#connection.agent.request(method, params), this.#over]);
  }

  notify(method: string, params: object): void {
    this.#connection.agent.notify(method, params).catch(() => undefined);
  }

  /** Whatever is waited for is rejected with this. The first reason counts. */
  cut(reason: Error): void {
    this.#end(reason);
  }

  close(): void {
    this.#connection.close();
  }
}

/** The SDK knows the methods by their names, the compiler only one by one. */
function register(
  app: ReturnType<AcpSdk['client']>,
  method: ClientMethod,
  answer: (context: { readonly params: never }) => Promise<unknown>,
): void {
  (app.onRequest as (method: string, handler: unknown) => void).call(app, method, answer);
}

function safely(
  { RequestError }: AcpSdk,
  answer: Answerer<ClientMethod>,
): (context: { readonly params: never }) => Promise<unknown> {
  return async ({ params }) => {
    try {
      return await answer(params);
    } catch (error) {
      throw new RequestError(error instanceof RequestRefused ? error.code : INTERNAL_ERROR, messageOf(error));
    }
  };
}

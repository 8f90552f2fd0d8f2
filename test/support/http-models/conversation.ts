/**
 * A model that plays a conversation which a test has written: its nth request gets the nth answer. Each request is held
 * against what its interface refuses. What a program asks besides (a title, a summary of a page) is answered plainly
 * and recorded apart.
 */
import { ZodError } from 'zod';
import { messageOf } from '../../../src/machines/errors.ts';
import { describeIssues } from '../../../src/machines/validate.ts';
import { answers } from './behaviors.ts';
import type { Behavior, Exchange, ModelServer, RecordedRequest, SideBehavior } from './model-server.ts';
import type { AnswerEnd, Said } from './protocol.ts';
import { readRequest, requestProblems } from './strict-rules.ts';

type Fits = (request: RecordedRequest) => boolean;

/** An answer to the next request, or to the next that fits: of a subagent, say, which asks the same model. */
export type Scripted = Behavior | { readonly when: Fits; readonly answer: Behavior };

export interface ConversationOptions {
  /** Which requests are none of the conversation. Default: those that offer no tools. */
  readonly isSide?: Fits;
  /** Whether each request is held against the rules of its interface. Default true. */
  readonly isStrict?: boolean;
}

export class Conversation {
  /** Of the conversation, in the order they came. */
  readonly requests: RecordedRequest[] = [];
  readonly sides: RecordedRequest[] = [];
  /** What was wrong with what was asked. A test ends with none. */
  readonly problems: string[] = [];
  readonly behavior: Behavior = (exchange) => this.#answer(exchange);
  readonly #script: Scripted[] = [];
  readonly #isSide: Fits;
  readonly #isStrict: boolean;
  #otherwise: Behavior | undefined;

  constructor({ isSide = offersNoTools, isStrict = true }: ConversationOptions = {}) {
    this.#isSide = isSide;
    this.#isStrict = isStrict;
  }

  /** Steps that follow those that are there. */
  script(...steps: readonly Scripted[]): this {
    this.#script.push(...steps);
    return this;
  }

  /** From now on whenever the script has nothing: for a program that tries again as often as it likes. */
  always(behavior: Behavior): this {
    this.#otherwise = behavior;
    return this;
  }

  /** Answers that were not asked for yet. */
  get left(): number {
    return this.#script.length;
  }

  /** What the tools of the program gave back, as the request number `index` tells it; the newest unless told. */
  results(index = -1): readonly ToolOutput[] {
    const request = this.requests.at(index);
    if (request === undefined) throw new Error(`the conversation has no request ${index}`);
    const last = readRequest(request.api, request.body).messages.at(-1);
    return (last?.blocks ?? []).flatMap((block) =>
      block.kind === 'result' ? [{ callId: block.id, text: block.text }] : [],
    );
  }

  /** The newest request that holds these words anywhere. */
  requestWith(words: string): RecordedRequest | undefined {
    return this.requests.findLast(({ text }) => text.includes(JSON.stringify(words).slice(1, -1)));
  }

  #answer(exchange: Exchange): Promise<void> | void {
    const { request } = exchange;
    if (this.#isSide(request)) {
      this.sides.push(request);
      return answers([{ text: SIDE_ANSWER }])(exchange);
    }
    this.requests.push(request);
    this.#check(request);
    const next = this.#script.findIndex((each) => typeof each === 'function' || each.when(request));
    const [found] = next === -1 ? [] : this.#script.splice(next, 1);
    if (found !== undefined) return (typeof found === 'function' ? found : found.answer)(exchange);
    if (this.#otherwise !== undefined) return this.#otherwise(exchange);
    this.problems.push(`request ${this.requests.length} was not expected`);
    return answers([{ text: 'This was not expected.' }])(exchange);
  }

  #check({ api, body }: RecordedRequest): void {
    if (!this.#isStrict) return;
    const at = `request ${this.requests.length}`;
    try {
      this.problems.push(...requestProblems(api, body).map((problem) => `${at}: ${problem}`));
    } catch (error) {
      const problems = error instanceof ZodError ? describeIssues(error) : [messageOf(error)];
      this.problems.push(...problems.map((problem) => `${at}: ${problem}`));
    }
  }
}

export interface ToolOutput {
  readonly callId: string;
  readonly text: string;
}

const SIDE_ANSWER = 'Aside.';

let calls = 0;

/** The model says this and ends. */
export const says = (text: string, end?: AnswerEnd): Behavior => answers([{ text }], end);

/** The model calls these tools, after it has said something where `text` is given. Each call has an id of its own. */
export function uses(
  tools: readonly (readonly [name: string, input: unknown])[],
  { text, ...end }: AnswerEnd & { readonly text?: string } = {},
): Behavior {
  const said: readonly Said[] = tools.map(([tool, input]) => {
    calls += 1;
    return { tool, callId: `call_${calls}`, input: JSON.stringify(input) };
  });
  return answers([...(text === undefined ? [] : [{ text }]), ...said], end);
}

export const use = (name: string, input: unknown, end?: AnswerEnd): Behavior => uses([[name, input]], end);

export function offersNoTools({ body: { tools } }: RecordedRequest): boolean {
  return !Array.isArray(tools) || tools.length === 0;
}

/**
 * Lets a server answer what programs ask besides: any other model says a word, there are these models, a text has ten
 * tokens, and everything else is there and empty.
 */
export function answerSideRequests(server: ModelServer, models: readonly string[] = []): void {
  server.whenOther(answers([{ text: SIDE_ANSWER }]));
  server.elsewhere(plainly(models));
}

const plainly =
  (models: readonly string[]): SideBehavior =>
  ({ path }, response) => {
    const data = models.map((id) => ({ type: 'model', object: 'model', id, display_name: id }));
    const body = path.endsWith('/models')
      ? { object: 'list', data, has_more: false }
      : path.endsWith('/count_tokens')
        ? { input_tokens: 10 }
        : path.endsWith(':countTokens')
          ? { totalTokens: 10 }
          : {};
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

/**
 * Finds the facts in whatever was thrown or returned as a failure: codes, statuses, headers and texts, from the error
 * itself, what it wraps, and the bodies of answers that it carries. Says nothing about what they mean. The work is
 * bounded, however large or cyclic the thing is.
 */
import { RuntimeError } from '../errors.ts';
import { clipped, field, headerEntries, isList, isObject, parsedJson, textField } from './failure-reading.ts';
import { codeWord } from './failure-table.ts';
import type { FactSource } from './failure-table.ts';

export interface FailureText {
  readonly text: string;
  /** False for what came with a status of success: it may be anything, such as what the model said. */
  readonly isEvidence: boolean;
}

/** A field that says how long to wait, as it was found. */
export interface FailureWait {
  readonly key: string;
  readonly value: string | number;
}

export interface FailureFacts {
  /** Distinct, in the order found: outermost first. */
  readonly values: ReadonlyMap<FactSource, ReadonlySet<string>>;
  /** Whether it was given as a fact. False for what only stood in words, such as JSON that a message quotes. */
  isGiven(source: FactSource, value: string): boolean;
  readonly texts: readonly FailureText[];
  /** By name in lower case; of two with the same name, the outermost. */
  readonly headers: ReadonlyMap<string, string>;
  readonly waits: readonly FailureWait[];
}

const MAX_LAYERS = 100;
const MAX_ELEMENTS = 8;
const MAX_TEXTS = 24;
const MAX_VALUES = 200;
const MAX_WAITS = 20;
const MAX_JSON_CHARACTERS = 262_144;
const MAX_LINES_WITH_JSON = 40;
const MAX_CODE_CHARACTERS = 100;

const CODE_FIELDS = [
  'code',
  'type',
  'status',
  'reason',
  '__type',
  'error',
  'error_code',
  'errorCode',
  'blockReason',
  'finishReason',
  'finish_reason',
  'stop_reason',
  'startup_failure_reason',
];
const STATUS_FIELDS = ['statusCode', 'status', 'httpStatusCode', 'error_status', 'api_error_status', 'code'];
const TEXT_FIELDS = ['error_description', 'msg', 'Message', 'status_msg', 'stderr', 'result', 'title'];
const WAIT_FIELDS = [
  'retryAfterMs',
  'retry_after_ms',
  'retry_after',
  'retryAfter',
  'retryDelay',
  'resets_in_seconds',
  'resets_at',
  'resetsAt',
];

/** Where an error keeps what a server answered: what is in there was written by another program. */
const ANSWER_FIELDS = [
  'response',
  'data',
  'responseBody',
  'body',
  'details',
  'detail',
  'innererror',
  'metadata',
  'raw',
  'promptFeedback',
];

const STATED_STATUS =
  /(?:\bAPI Error|\brequest rejected|\bstatus(?: code)?|\bHTTP(?:\/[\d.]{1,3})?|\berror code)[ :=(]{1,3}(?<status>[45]\d\d)\b/gi;

const GIVEN = { isQuoted: false };
const STATED = { isQuoted: true };

interface Place {
  readonly value: unknown;
  /** Written by a server or a program: only what this process made itself can tell by its name that it is an abort. */
  readonly isAnswer: boolean;
  /** Came with a status of success: counts only where it says that it is an error. */
  readonly isSuccess: boolean;
  /** Found within words, which may come from anywhere. */
  readonly isQuoted: boolean;
}

export function readFailureFacts(error: unknown): FailureFacts {
  const reader = new FactReader();
  reader.read(error);
  return reader;
}

class FactReader implements FailureFacts {
  readonly values = new Map<FactSource, Set<string>>();
  readonly texts: FailureText[] = [];
  readonly headers = new Map<string, string>();
  readonly waits: FailureWait[] = [];
  readonly #given = new Set<string>();
  readonly #seen = new Set<object>();
  /**
   * What is still to be read; the last one next, so that what lies inside an error is read before what lies beside it.
   */
  readonly #open: Place[] = [];

  read(error: unknown): void {
    if (!isObject(error) && typeof error !== 'string') return;
    this.#open.push({ value: error, isAnswer: false, isSuccess: false, isQuoted: false });
    for (let place = this.#open.pop(); place !== undefined; place = this.#open.pop()) this.#visit(place);
  }

  isGiven(source: FactSource, value: string): boolean {
    return this.#given.has(`${source} ${value}`);
  }

  #visit(place: Place): void {
    const { value } = place;
    if (typeof value === 'string') this.#readText(value, place);
    if (!isObject(value) || this.#seen.has(value) || this.#seen.size >= MAX_LAYERS) return;
    this.#seen.add(value);
    if (isList(value)) this.#openAll(elementsOf(value), place);
    else if (isOwnError(value)) this.#readOwnError(value, place);
    else this.#readObject(value, place);
  }

  #openAll(values: readonly unknown[], { isAnswer, isSuccess, isQuoted }: Omit<Place, 'value'>): void {
    for (const value of values.toReversed()) this.#open.push({ isAnswer, isSuccess, isQuoted, value });
  }

  #readOwnError(error: object, place: Place): void {
    for (const key of ['code', 'category']) {
      const value = textField(error, key);
      if (value !== undefined) this.#add('own', `${key} ${value}`);
    }
    this.#readText(textField(error, 'message') ?? '', place);
    this.#openAll([field(error, 'cause')], place);
  }

  #readObject(object: object, place: Place): void {
    const status = field(object, 'statusCode') ?? field(object, 'status');
    const isSuccess =
      typeof status === 'number' ? status >= 200 && status < 300 : place.isSuccess && !saysItIsAnError(object);
    this.#openParts(object, { ...place, isSuccess });
    if (!place.isAnswer) this.#readHow(object);
    if (!place.isSuccess || !isSuccess) this.#readCodes(object, place);
    this.#readHeaders(object, place);
    this.#readWaits(object);
    this.#readTexts(object, { ...place, isSuccess });
  }

  /** What has ended it, by the names and flags that Node, fetch and the starters of programs give. */
  #readHow(object: object): void {
    const name = textField(object, 'name');
    this.#add('name', name);
    // Clouds name the class as the code; `Error` and its kin say nothing.
    if (name !== undefined && !/^\w{0,20}Error$/.test(name)) this.#add('code', wordOf(name));
    // Node gives both with each call of the system that fails, and a server's answer is not read here.
    if (textField(object, 'syscall') !== undefined) this.#add('system', wordOf(textField(object, 'code') ?? ''));
    for (const flag of ['timedOut', 'isCanceled']) if (field(object, flag) === true) this.#add('flag', flag);
    if (name === 'AI_RetryError' && field(object, 'reason') === 'abort') this.#add('flag', 'aborted_retry');
    const exitCode = field(object, 'exitCode');
    if (Number.isInteger(exitCode)) this.#add('exit', String(exitCode));
    this.#add('signal', textField(object, 'signal'));
  }

  #readCodes(object: object, place: Place): void {
    for (const key of CODE_FIELDS) {
      const value = field(object, key);
      if (typeof value !== 'string') continue;
      if (/^[45]\d\d$/.test(value)) this.#add('status', value, place);
      else this.#add('code', wordOf(value), place);
    }
    for (const key of STATUS_FIELDS) {
      const value = field(object, key);
      if (typeof value !== 'number') continue;
      if (value >= 400 && value < 600) this.#add('status', String(value), place);
      if (value <= -32_000 && value >= -32_899) this.#add('rpc', String(value), place);
    }
  }

  #readHeaders(object: object, place: Place): void {
    for (const key of ['responseHeaders', 'headers']) {
      const bag = field(object, key);
      if (!isObject(bag)) continue;
      for (const [name, value] of headerEntries(bag)) {
        if (!this.headers.has(name)) this.headers.set(name, value);
        if (name === 'x-amzn-errortype') this.#add('code', wordOf(value), place);
      }
    }
  }

  #readWaits(object: object): void {
    for (const key of WAIT_FIELDS) {
      const value = field(object, key);
      const isWait = typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_CODE_CHARACTERS);
      if (isWait && this.waits.length < MAX_WAITS) this.waits.push({ key, value });
    }
  }

  #readTexts(object: object, place: Place): void {
    // Starters of programs put all that a program printed into `message`, the words of a model included.
    const message = textField(object, 'shortMessage') ?? textField(object, 'message');
    const error = textField(object, 'error');
    const texts = [
      message,
      error !== undefined && wordOf(error) === undefined ? error : undefined,
      ...TEXT_FIELDS.map((key) => textField(object, key)),
    ];
    for (const text of texts) if (text !== undefined) this.#readText(text, { ...place, isQuoted: true });
  }

  #openParts(object: object, place: Omit<Place, 'value'>): void {
    const answers = ANSWER_FIELDS.map((key) => field(object, key));
    const last = field(object, 'lastError');
    const inner = last === undefined ? [field(object, 'cause'), field(object, 'errors')] : [last];
    const error = field(object, 'error');
    const reply = failedReply(object);
    const value = field(object, 'value');
    this.#openAll(inner, { ...place, isSuccess: false });
    // A value that is not as it should be may be an error that a server sent in the middle of a stream.
    if (isObject(value) && saysItIsAnError(value))
      this.#openAll([value], { isAnswer: true, isSuccess: false, isQuoted: place.isQuoted });
    this.#openAll([field(object, '$metadata'), ...answers], { ...place, isAnswer: true });
    if (isObject(error)) this.#openAll([error], { ...place, isSuccess: false });
    if (reply !== undefined) this.#openAll([reply], { ...place, isSuccess: false });
  }

  #readText(given: string, place: Place): void {
    const start = given.trimStart().charAt(0);
    const whole =
      given.length <= MAX_JSON_CHARACTERS && (start === '{' || start === '[') ? parsedJson(given) : undefined;
    if (whole !== undefined) return this.#openAll([whole], { ...place, isAnswer: true });
    const text = clipped(given).trim();
    if (text === '' || this.texts.length >= MAX_TEXTS) return;
    const isEvidence = !place.isSuccess;
    this.texts.push({ text, isEvidence });
    if (!isEvidence) return;
    for (const { groups } of text.matchAll(STATED_STATUS)) this.#add('stated_status', groups?.['status'], STATED);
    this.#openAll(jsonWithin(text), { ...place, isAnswer: true, isQuoted: true });
  }

  #add(source: FactSource, value: string | undefined, { isQuoted }: Pick<Place, 'isQuoted'> = GIVEN): void {
    if (value === undefined) return;
    if (!isQuoted && this.#given.size < MAX_VALUES) this.#given.add(`${source} ${value}`);
    const values = this.values.get(source) ?? new Set<string>();
    this.values.set(source, values);
    if (values.size < MAX_VALUES) values.add(value);
  }
}

function isOwnError(value: object): boolean {
  try {
    return RuntimeError.is(value);
  } catch {
    return false;
  }
}

/** What MiniMax says of a request that failed, behind a status of success. */
function failedReply(object: object): object | undefined {
  const reply = field(object, 'base_resp');
  return isObject(reply) && field(reply, 'status_code') !== 0 ? reply : undefined;
}

function saysItIsAnError(object: object): boolean {
  return (
    isObject(field(object, 'error')) ||
    failedReply(object) !== undefined ||
    field(object, 'type') === 'error' ||
    field(object, 'object') === 'error'
  );
}

function elementsOf(list: readonly unknown[]): readonly unknown[] {
  return Array.from({ length: MAX_ELEMENTS }, (_, index) => field(list, String(index)));
}

/** The code a text is; nothing for sentences. */
function wordOf(text: string): string | undefined {
  return text.length > MAX_CODE_CHARACTERS || /\s/.test(text.trim()) ? undefined : codeWord(text);
}

/** JSON that a program printed between words: over several lines, or one to a line. */
function jsonWithin(text: string): readonly object[] {
  const whole = bracedJson(text);
  if (whole !== undefined) return [whole];
  return text
    .split('\n', MAX_LINES_WITH_JSON)
    .map(bracedJson)
    .filter((found) => found !== undefined);
}

function bracedJson(text: string): object | undefined {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  return start === -1 || end < start ? undefined : parsedJson(text.slice(start, end + 1));
}

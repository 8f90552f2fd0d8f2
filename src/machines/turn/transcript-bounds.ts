/**
 * Keeps what a model is given within a size. First the outputs of old calls are left out, then whole exchanges, the
 * oldest first; a call and its result always stay together. The newest exchanges are protected: they are cut in the
 * middle before any of them is left out. What the model has to answer is always kept, and cut in the middle when it
 * alone is too large.
 */
import type { ProviderMessage, TextPart, ToolMessage, UserMessage } from './provider-message.ts';
import { asText, estimateMessage, estimateMessages, estimatePart, estimateTokens } from './token-estimate.ts';
import { cutMiddle, cutToFit, outputLeftOut } from './transcript-cut.ts';
import { exchangesOf, lastExchangeStart, newestTold, summaryOf } from './transcript-exchanges.ts';

export interface TranscriptBounds {
  /** Of the messages, by estimate. */
  readonly maxTokens: number;
  /** How many of the newest exchanges keep the outputs of their tools. Default 8. */
  readonly keepOutputs?: number | undefined;
  /**
   * How many of the newest exchanges are protected, what the model has to answer among them. Default
   * PROTECTED_EXCHANGES.
   */
  readonly protectExchanges?: number | undefined;
}

export type BoundedTranscript =
  | {
      readonly kind: 'fits';
      readonly messages: readonly ProviderMessage[];
      /** Of these messages, by estimate. */
      readonly tokens: number;
      /** Of those given, how many are left out. */
      readonly omittedMessages: number;
      /** Of these messages, how many are not whole: parts of them are cut, or old outputs left out. */
      readonly shortenedMessages: number;
    }
  /** What the model has to answer cannot be made to fit: `tokens` is its size as it came. */
  | { readonly kind: 'too_large'; readonly tokens: number; readonly maxTokens: number };

/** A model that has lost its last few steps takes them again. */
export const PROTECTED_EXCHANGES = 4;

/** Exchanges that keep the outputs of their tools. */
const KEPT_OUTPUTS = 8;

/** An old output that is shorter stays: the words that would stand for it are no shorter. */
const SHORT_OUTPUT_TOKENS = 64;

/** The share of the room that what is said in place of the messages left out may take. */
const HEAD_SHARE = 1 / 4;

/** Exchanges are left out by about this share of the room at a time. */
const DROPPED_SHARE = 1 / 8;

/**
 * As much of the newest part of `messages` as fits, beginning with a user message that says what is missing and repeats
 * what a person asked for last. The messages themselves when they fit.
 */
export function boundTranscript(
  messages: readonly ProviderMessage[],
  { maxTokens, keepOutputs = KEPT_OUTPUTS, protectExchanges = PROTECTED_EXCHANGES }: TranscriptBounds,
): BoundedTranscript {
  const tokens = estimateMessages(messages);
  if (tokens <= maxTokens) return { kind: 'fits', messages, tokens, omittedMessages: 0, shortenedMessages: 0 };
  const shortened = withoutOldOutputs(messages, keepOutputs);
  const shortenedTokens = estimateMessages(shortened);
  if (shortenedTokens <= maxTokens)
    return {
      kind: 'fits',
      messages: shortened,
      tokens: shortenedTokens,
      omittedMessages: 0,
      shortenedMessages: changedIn(messages, shortened),
    };
  return withoutOldest(
    { given: messages, messages: shortened, guarded: protectedStart(messages, protectExchanges) },
    maxTokens,
  );
}

/** Where the protected exchanges begin: the newest ones, and in any case what the model has to answer. */
export function protectedStart(messages: readonly ProviderMessage[], protectExchanges = PROTECTED_EXCHANGES): number {
  const newest = exchangesOf(messages).at(-Math.max(1, protectExchanges))?.start ?? 0;
  return Math.min(newest, lastExchangeStart(messages));
}

/** What is not whole any more: parts that stay are the same objects. */
function changedIn(given: readonly ProviderMessage[], made: readonly ProviderMessage[]): number {
  return given.filter(({ content }, index) => content.some((part, place) => made[index]?.content[place] !== part))
    .length;
}

interface Shortening {
  /** As they came. */
  readonly given: readonly ProviderMessage[];
  /** The same ones, without the outputs of old calls. */
  readonly messages: readonly ProviderMessage[];
  /** Where the protected exchanges begin. */
  readonly guarded: number;
}

/** The outputs go by groups of exchanges: with each step another one, the cache of a provider would never hold. */
export function withoutOldOutputs(
  messages: readonly ProviderMessage[],
  keepOutputs = KEPT_OUTPUTS,
): readonly ProviderMessage[] {
  const exchanges = exchangesOf(messages);
  const group = Math.max(1, keepOutputs);
  const old = Math.floor(Math.max(0, exchanges.length - keepOutputs) / group) * group;
  // What the model has not seen is not old, whatever is asked for.
  const end = Math.min(old === 0 ? 0 : (exchanges[old - 1]?.end ?? 0), lastExchangeStart(messages));
  return messages.map((message, index) => (index < end && message.role === 'tool' ? withoutOutputs(message) : message));
}

/** What was left out once is left out at each step from then on. */
const WITHOUT_OUTPUTS = new WeakMap<ToolMessage, ToolMessage>();

function withoutOutputs(message: ToolMessage): ToolMessage {
  const known = WITHOUT_OUTPUTS.get(message);
  if (known !== undefined) return known;
  const content = message.content.map((part) =>
    estimateTokens(asText(part.output)) <= SHORT_OUTPUT_TOKENS ? part : { ...part, output: outputLeftOut(part) },
  );
  const shortened: ToolMessage = { role: 'tool', content };
  WITHOUT_OUTPUTS.set(message, shortened);
  return shortened;
}

/** The oldest exchanges go, and the protected ones only where they do not fit even when they are cut. */
function withoutOldest(shortening: Shortening, maxTokens: number): BoundedTranscript {
  const { messages } = shortening;
  const last = lastExchangeStart(messages);
  const start = startOfKept(shortening, maxTokens);
  const later = exchangesOf(messages)
    .map((exchange) => exchange.start)
    .filter((each) => each > start && each < last);
  for (const from of start < last ? [start, ...later] : []) {
    const bounded = keptFrom(shortening, { start: from, last, maxTokens });
    if (bounded !== undefined) return bounded;
  }
  return last === 0 ? cutWhole(shortening, maxTokens) : withHead(shortening, last, maxTokens);
}

/** So many go at once that there is room for a while, and the rest begins at the same place for some steps. */
function startOfKept({ messages, guarded }: Shortening, maxTokens: number): number {
  const excess = estimateMessages(messages) - maxTokens * (1 - HEAD_SHARE);
  const portion = maxTokens * DROPPED_SHARE;
  let toDrop = Math.ceil(excess / portion) * portion;
  let start = 0;
  for (const exchange of exchangesOf(messages)) {
    if (toDrop <= 0 || exchange.start >= guarded) break;
    for (const message of messages.slice(exchange.start, exchange.end)) toDrop -= estimateMessage(message);
    start = Math.min(exchange.end, guarded);
  }
  return start;
}

interface KeptPart {
  readonly start: number;
  /** Where what the model has to answer begins. */
  readonly last: number;
  readonly maxTokens: number;
}

/**
 * Everything from `start` on, with what the model has to answer whole and what stands before that cut where it has to
 * be.
 */
function keptFrom(
  { given, messages }: Shortening,
  { start, last, maxTokens }: KeptPart,
): BoundedTranscript | undefined {
  for (const head of start === 0 ? [[]] : [headOf(messages, start, maxTokens * HEAD_SHARE), [noteOf(start)]]) {
    const room =
      maxTokens -
      (head.length === 0 ? 0 : estimateMessages(joined(head, [])) + 1) -
      estimateMessages(messages.slice(last));
    const cut = room > 0 ? cutToFit(messages.slice(start, last), room) : undefined;
    if (cut === undefined) continue;
    const kept = [...cut, ...messages.slice(last)];
    const whole = head.length === 0 ? kept : joined(head, kept);
    return {
      kind: 'fits',
      messages: whole,
      tokens: estimateMessages(whole),
      omittedMessages: start,
      shortenedMessages: changedIn(given.slice(start), kept),
    };
  }
  return undefined;
}

function cutWhole({ given, messages }: Shortening, maxTokens: number): BoundedTranscript {
  const cut = cutToFit(messages, maxTokens);
  return cut === undefined
    ? tooLarge(messages, maxTokens)
    : {
        kind: 'fits',
        messages: cut,
        tokens: estimateMessages(cut),
        omittedMessages: 0,
        shortenedMessages: changedIn(given, cut),
      };
}

/**
 * What is kept, after the words that stand for what is not. The words give way before what the model has to answer
 * does.
 */
function withHead({ given, messages }: Shortening, start: number, maxTokens: number): BoundedTranscript {
  const kept = messages.slice(start);
  const shortenedIn = (made: readonly ProviderMessage[]): number => changedIn(given.slice(start), made);
  for (const head of [headOf(messages, start, maxTokens * HEAD_SHARE), [noteOf(start)]]) {
    const whole = joined(head, kept);
    const tokens = estimateMessages(whole);
    if (tokens <= maxTokens)
      return { kind: 'fits', messages: whole, tokens, omittedMessages: start, shortenedMessages: shortenedIn(kept) };
    const room = maxTokens - (estimateMessages(joined(head, [])) + 1);
    const cut = cutToFit(kept, room);
    if (cut === undefined) continue;
    const bounded = joined(head, cut);
    return {
      kind: 'fits',
      messages: bounded,
      tokens: estimateMessages(bounded),
      omittedMessages: start,
      shortenedMessages: shortenedIn(cut),
    };
  }
  return tooLarge(kept, maxTokens);
}

/**
 * How much is left out, the summary that stood before it, and what was told last in it unless something is told in what
 * follows.
 */
function headOf(messages: readonly ProviderMessage[], start: number, maxTokens: number): TextPart[] {
  const note = noteOf(start);
  const room = maxTokens - estimatePart(note);
  const summary = summaryOf(messages);
  const summaryRoom = Math.floor(room * (2 / 3));
  const shownSummary = summary === undefined ? undefined : cutMiddle(summary.text, summaryRoom);
  const told = messages.slice(start).some(({ role }) => role === 'user')
    ? undefined
    : newestTold(messages.slice(0, start));
  const shownTold =
    told === undefined
      ? undefined
      : cutMiddle(`The newest message from outside among them:\n${wordsOf(told)}`, Math.floor(room / 4));
  return [
    ...(summary === undefined || shownSummary === undefined ? [] : [{ ...summary, text: shownSummary }]),
    note,
    ...(shownTold === undefined ? [] : [{ type: 'text', text: shownTold } as const]),
  ];
}

function noteOf(omitted: number): TextPart {
  const messages = omitted === 1 ? 'One earlier message is' : `${omitted} earlier messages are`;
  return { type: 'text', text: `${messages} left out here; the log of the session keeps them.` };
}

function wordsOf({ content }: UserMessage): string {
  return content
    .flatMap((part) => (part.type === 'text' && part.summarizesThroughSeq === undefined ? [part.text] : []))
    .join('\n');
}

function joined(head: readonly TextPart[], messages: readonly ProviderMessage[]): readonly ProviderMessage[] {
  const [first, ...rest] = messages;
  return first?.role === 'user'
    ? [{ role: 'user', content: [...head, ...first.content] }, ...rest]
    : [{ role: 'user', content: head }, ...messages];
}

function tooLarge(messages: readonly ProviderMessage[], maxTokens: number): BoundedTranscript {
  return { kind: 'too_large', tokens: estimateMessages(messages), maxTokens };
}

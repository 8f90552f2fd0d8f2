/**
 * Keeps what a model is given within a size. First the outputs of old calls are left out, then whole exchanges, the
 * oldest first; a call and its result always stay together. The newest exchanges are protected: they are cut in the
 * middle before any of them is left out. What the model has to answer is always kept, and cut in the middle when it
 * alone is too large.
 */
import type { ProviderMessage, TextPart, ToolMessage, UserMessage } from './provider-message.ts';
import { conversationCosts, costsOf, costsTogether, estimateMessages } from './conversation-costs.ts';
import { asText, estimatePart, estimateTokens, messageCosts } from './token-estimate.ts';
import type { MessageCosts } from './token-estimate.ts';
import { cutMiddle, cutToFit, outputLeftOut } from './transcript-cut.ts';
import { lastExchangeStart, newestTold, summaryOf } from './transcript-exchanges.ts';

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
      readonly costs: MessageCosts;
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
  const costs = conversationCosts(messages);
  if (tokensOf(costs) <= maxTokens) return fitting(messages, costs);
  const shortened = withoutOldOutputs(messages, keepOutputs);
  const shortenedCosts = conversationCosts(shortened);
  if (tokensOf(shortenedCosts) <= maxTokens)
    return fitting(shortened, shortenedCosts, { shortenedMessages: changedIn(messages, 0, shortened) });
  return withoutOldest(
    { given: messages, messages: shortened, guarded: protectedStart(messages, protectExchanges) },
    maxTokens,
  );
}

function tokensOf({ words, attachments }: MessageCosts): number {
  return words + attachments;
}

function fitting(
  messages: readonly ProviderMessage[],
  costs: MessageCosts,
  { omittedMessages = 0, shortenedMessages = 0 } = {},
): BoundedTranscript {
  return { kind: 'fits', messages, costs, tokens: tokensOf(costs), omittedMessages, shortenedMessages };
}

/** Where the protected exchanges begin: the newest ones, and in any case what the model has to answer. */
export function protectedStart(messages: readonly ProviderMessage[], protectExchanges = PROTECTED_EXCHANGES): number {
  const newest = costsOf(messages).starts.at(-Math.max(1, protectExchanges)) ?? 0;
  return Math.min(newest, lastExchangeStart(messages));
}

/** Of those given from `start` on, how many are not whole any more: parts that stay are the same objects. */
function changedIn(given: readonly ProviderMessage[], start: number, made: readonly ProviderMessage[]): number {
  let changed = 0;
  for (let index = start; index < given.length; index += 1) {
    const [before, after] = [given[index], made[index - start]];
    if (before !== after && before?.content.some((part, place) => after?.content[place] !== part) === true)
      changed += 1;
  }
  return changed;
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
  const { starts } = costsOf(messages);
  const group = Math.max(1, keepOutputs);
  const old = Math.floor(Math.max(0, starts.length - keepOutputs) / group) * group;
  // What the model has not seen is not old, whatever is asked for.
  const end = Math.min(old === 0 ? 0 : (starts[old] ?? messages.length), lastExchangeStart(messages));
  let shortened: ProviderMessage[] | undefined;
  for (let index = 0; index < end; index += 1) {
    const message = messages[index];
    if (message?.role !== 'tool') continue;
    const without = withoutOutputs(message);
    if (without === message) continue;
    shortened ??= [...messages];
    shortened[index] = without;
  }
  return shortened ?? messages;
}

/** What was left out once is left out at each step from then on. */
const WITHOUT_OUTPUTS = new WeakMap<ToolMessage, ToolMessage>();

function withoutOutputs(message: ToolMessage): ToolMessage {
  const known = WITHOUT_OUTPUTS.get(message);
  if (known !== undefined) return known;
  const content = message.content.map((part) =>
    estimateTokens(asText(part.output)) <= SHORT_OUTPUT_TOKENS ? part : { ...part, output: outputLeftOut(part) },
  );
  const isWhole = content.every((part, place) => part === message.content[place]);
  const shortened: ToolMessage = isWhole ? message : { role: 'tool', content };
  WITHOUT_OUTPUTS.set(message, shortened);
  return shortened;
}

/** The oldest exchanges go, and the protected ones only where they do not fit even when they are cut. */
function withoutOldest(shortening: Shortening, maxTokens: number): BoundedTranscript {
  const { messages } = shortening;
  const last = lastExchangeStart(messages);
  for (let from = startOfKept(shortening, maxTokens); from < last; from = nextStart(messages, from)) {
    const bounded = keptFrom(shortening, { start: from, last, maxTokens });
    if (bounded !== undefined) return bounded;
  }
  return last === 0 ? cutWhole(shortening, maxTokens) : withHead(shortening, last, maxTokens);
}

/** Where the exchange after `start` begins. */
function nextStart(messages: readonly ProviderMessage[], start: number): number {
  return costsOf(messages).starts.find((each) => each > start) ?? messages.length;
}

/** So many go at once that there is room for a while, and the rest begins at the same place for some steps. */
function startOfKept({ messages, guarded }: Shortening, maxTokens: number): number {
  const costs = costsOf(messages);
  const excess = estimateMessages(messages) - maxTokens * (1 - HEAD_SHARE);
  const portion = maxTokens * DROPPED_SHARE;
  const toDrop = Math.ceil(excess / portion) * portion;
  let start = 0;
  for (let at = 0; start < guarded && tokensOf(costs.between(0, start)) < toDrop; at += 1)
    start = Math.min(costs.starts[at + 1] ?? messages.length, guarded);
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
  const answered = estimateMessages(messages, last);
  for (const head of start === 0 ? [[]] : [headOf(messages, start, maxTokens * HEAD_SHARE), [noteOf(start)]]) {
    const room = maxTokens - (head.length === 0 ? 0 : estimateMessages(joined(head, [])) + 1) - answered;
    if (room <= 0) continue;
    if (estimateMessages(messages, start, last) <= room) return withoutCuts({ given, messages }, head, start);
    const cut = cutToFit(messages.slice(start, last), room);
    if (cut === undefined) continue;
    const kept = [...cut, ...messages.slice(last)];
    const whole = head.length === 0 ? kept : joined(head, kept);
    const shortenedMessages = changedIn(given, start, kept);
    return fitting(whole, conversationCosts(whole), { omittedMessages: start, shortenedMessages });
  }
  return undefined;
}

/** All from `start` on as it is, after the words that stand for what is not there. */
function withoutCuts(
  { given, messages }: Pick<Shortening, 'given' | 'messages'>,
  head: readonly TextPart[],
  start: number,
): BoundedTranscript {
  const kept = messages.slice(start);
  const shortenedMessages = given === messages ? 0 : changedIn(given, start, kept);
  const whole = head.length === 0 ? kept : joined(head, kept);
  // The words are joined to the first message, or are one more.
  const joinedTo = whole.length > kept.length ? start : start + 1;
  const [first] = whole;
  const costs =
    first === undefined
      ? conversationCosts(whole)
      : costsTogether(messageCosts(first), conversationCosts(messages, joinedTo));
  return fitting(whole, costs, { omittedMessages: start, shortenedMessages });
}

function cutWhole({ given, messages }: Shortening, maxTokens: number): BoundedTranscript {
  const cut = cutToFit(messages, maxTokens);
  return cut === undefined
    ? tooLarge(messages, maxTokens)
    : fitting(cut, conversationCosts(cut), { shortenedMessages: changedIn(given, 0, cut) });
}

/**
 * What is kept, after the words that stand for what is not. The words give way before what the model has to answer
 * does.
 */
function withHead({ given, messages }: Shortening, start: number, maxTokens: number): BoundedTranscript {
  const kept = messages.slice(start);
  for (const head of [headOf(messages, start, maxTokens * HEAD_SHARE), [noteOf(start)]]) {
    const room = maxTokens - (estimateMessages(joined(head, [])) + 1);
    const isWhole = estimateMessages(joined(head, kept)) <= maxTokens;
    const shown = isWhole ? kept : cutToFit(kept, room);
    if (shown === undefined) continue;
    const whole = joined(head, shown);
    const shortenedMessages = changedIn(given, start, shown);
    return fitting(whole, conversationCosts(whole), { omittedMessages: start, shortenedMessages });
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
  const told = messages.findLastIndex(({ role }) => role === 'user') >= start ? undefined : newestTold(messages, start);
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
  const [first] = messages;
  return first?.role === 'user'
    ? [{ role: 'user', content: [...head, ...first.content] }, ...messages.slice(1)]
    : [{ role: 'user', content: head }, ...messages];
}

function tooLarge(messages: readonly ProviderMessage[], maxTokens: number): BoundedTranscript {
  return { kind: 'too_large', tokens: estimateMessages(messages), maxTokens };
}

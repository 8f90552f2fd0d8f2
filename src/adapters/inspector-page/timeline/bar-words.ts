/** What bars are called, how they stand, and what is written at them. */
import type { BarKind, SessionBar } from '../../../machines/inspection-log/session-bar.ts';
import { priceWords } from '../../../machines/inspection-log/wake-words.ts';
import { TONE_WORDS } from '../model/outcomes.ts';
import type { Tone } from '../model/outcomes.ts';
import { visibleText } from '../model/visible-text.ts';
import { amount, duration } from '../model/words.ts';
import type { SignName } from '../shared/sign.tsx';

export const KINDS: Readonly<Record<BarKind, { readonly word: string; readonly sign: SignName }>> = {
  session: { word: 'Session', sign: 'session' },
  wake: { word: 'Wake', sign: 'action' },
  step: { word: 'Model step', sign: 'step' },
  attempt: { word: 'Attempt', sign: 'run' },
  call: { word: 'Call', sign: 'toolCall' },
  request: { word: 'Request', sign: 'waiting' },
  child: { word: 'Session that works for it', sign: 'subagent' },
};

export type BarTone = Tone | 'resting';

/** How a session stands whose bars are shown. */
export interface BarsNow {
  /** Milliseconds since the epoch: what is not over lasts until then. */
  readonly now: number;
  /** The process of its wake died, and was heard of last then. */
  readonly deadSince?: number | undefined;
}

/** Where it ends, as far as it is known. */
export function endOf(bar: SessionBar, { now, deadSince }: BarsNow): number {
  if (bar.to !== undefined) return bar.to;
  return isDead(bar, deadSince) ? Math.max(bar.from, deadSince ?? 0) : Math.max(bar.from, now);
}

export function toneOf(bar: SessionBar, { deadSince }: BarsNow): BarTone {
  if (bar.outcome !== undefined) return bar.outcome;
  const state = bar.parts.at(-1)?.is;
  if (bar.to !== undefined || isDead(bar, deadSince)) return 'unknown';
  return state === 'working' ? 'running' : state === 'waiting' ? 'waiting' : 'resting';
}

export function toneWord(tone: BarTone): string {
  return tone === 'resting' ? 'rests' : TONE_WORDS[tone];
}

/** For how long of its time something was waited for. */
export function waitedIn(bar: SessionBar, until: number): number {
  return bar.parts.reduce(
    (sum, { from, is }, index) =>
      is === 'waiting' ? sum + Math.max(0, Math.min(bar.parts[index + 1]?.from ?? until, until) - from) : sum,
    0,
  );
}

/** A model without its provider, which `wholeNameOf` tells. */
export function nameOf(bar: SessionBar): string {
  if (bar.kind === 'session') return 'Session';
  const name = wholeNameOf(bar);
  return bar.kind === 'step' || bar.kind === 'attempt' ? name.replace(/\b[^/ ]+\/(?=.)/, '') : name;
}

export function wholeNameOf({ kind, label }: SessionBar): string {
  return visibleText(label === '' ? KINDS[kind].word : label, 200);
}

/** Tokens and money. Undefined: it used none. */
export function usedBy({ tokens, cost, isCostPartial }: SessionBar): string | undefined {
  if (tokens === 0 && (cost ?? 0) === 0) return undefined;
  const money = cost === undefined ? undefined : `${isCostPartial ? '≥ ' : ''}${priceWords(cost)}`;
  return [`${shortAmount(tokens)} tokens`, money].filter((part) => part !== undefined).join(' · ');
}

/** What stands at the bar itself. */
export function barText(bar: SessionBar, now: BarsNow): string {
  // It is as long as the whole scale: what it used stands at its name.
  if (bar.kind === 'session') return '';
  const isBad = bar.outcome !== undefined && bar.outcome !== 'completed';
  const used = bar.kind === 'wake' || bar.kind === 'step' ? usedBy(bar) : undefined;
  const told = isBad && bar.told !== undefined ? visibleText(bar.told, 120) : undefined;
  return [duration(endOf(bar, now) - bar.from), used, told].filter((part) => part !== undefined).join(' · ');
}

/** All of it in one sentence, for those who hear the page. */
export function spokenText(bar: SessionBar, now: BarsNow): string {
  const end = endOf(bar, now);
  const waited = waitedIn(bar, end);
  const parts = [
    bar.kind === 'session' ? undefined : KINDS[bar.kind].word,
    bar.kind === 'session' ? nameOf(bar) : wholeNameOf(bar),
    toneWord(toneOf(bar, now)),
    duration(end - bar.from),
    waited > 0 ? `of which it waited ${duration(waited)}` : undefined,
    usedBy(bar),
    bar.outcome === 'completed' ? undefined : bar.told,
  ];
  return visibleText(parts.filter((part) => part !== undefined).join(', '), 400);
}

/** `950`, `12.3k`, `1.2M`. */
function shortAmount(count: number): string {
  if (count < 1_000) return amount(count);
  return count < 999_950 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** What runs in the process of the wake ends with it; what waits for someone else does not. */
function isDead({ kind, to, parts }: SessionBar, deadSince: number | undefined): boolean {
  if (deadSince === undefined || to !== undefined) return false;
  if (kind === 'wake' || kind === 'step' || kind === 'attempt') return true;
  return (kind === 'call' || kind === 'session') && parts.at(-1)?.is === 'working';
}

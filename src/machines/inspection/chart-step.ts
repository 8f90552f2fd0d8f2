/** What can be done with a chart and what lives by it, one step at a time, as plain JSON. */
import type { AnyEventObject } from 'xstate';

/**
 * `event`: it is sent. `done`, `error`: what the chart invokes under this name answers, or fails. `wait`: time passes.
 *
 * The others are faults, of which the chart hears nothing or what its side of it is: `lost`: the call was done and its
 * answer is lost, so that it fails for the caller; `late`: the answer of a call comes that the chart waits for no more;
 * `again`: an event that came before comes a second time; `restart`: the process ends, and another goes on.
 */
export type ChartStep =
  | { readonly kind: 'event'; readonly event: AnyEventObject }
  | { readonly kind: 'done'; readonly call: string; readonly output?: unknown }
  | { readonly kind: 'error'; readonly call: string }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'lost'; readonly call: string }
  | { readonly kind: 'late'; readonly call: string; readonly output?: unknown }
  | { readonly kind: 'again'; readonly event: AnyEventObject }
  | { readonly kind: 'restart' };

/** As people read it, in the words of audits: `PAY {"amount":3}`, `done(charge)`, `30 s pass`. */
export function stepText(step: ChartStep): string {
  if (step.kind === 'event') return eventText(step.event);
  if (step.kind === 'again') return `${eventText(step.event)} comes again`;
  if (step.kind === 'wait') return `${durationText(step.ms)} pass`;
  if (step.kind === 'restart') return 'crash and restart';
  if (step.kind === 'error') return `error(${step.call})`;
  if (step.kind === 'lost') return `error(${step.call}), done but its answer is lost`;
  const output = step.output === undefined ? '' : ` ${jsonText(step.output)}`;
  return step.kind === 'late' ? `done(${step.call})${output}, too late` : `done(${step.call})${output}`;
}

function eventText({ type, ...fields }: AnyEventObject): string {
  return Object.keys(fields).length === 0 ? type : `${type} ${jsonText(fields)}`;
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

function durationText(ms: number): string {
  const unit = UNITS.find(([length]) => ms >= length && ms % length === 0);
  return unit === undefined ? `${ms} ms` : `${ms / unit[0]} ${unit[1]}`;
}

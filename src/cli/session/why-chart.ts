/**
 * Where a session stands in its charts, as lines: three of them for a reader who wants to get on, all of it for one who
 * wants to know.
 */
import type { ImpossibleEvent, OutlookState, OutlookWay } from '../../machines/inspection/chart-outlook.ts';
import type { ChartExplanation, MovedEvent, MovedOutlook } from '../../machines/session/why-charts.ts';
import type { IngressOutlook } from '../../machines/session/why-ingress.ts';
import type { Mover } from '../../machines/session/why-movers.ts';
import type { SessionTimer } from '../../machines/session/why-timers.ts';
import type { CommandContext } from '../context.ts';
import { textAsTyped } from '../context.ts';
import { durationText, localTime, printable } from '../terminal/text.ts';
import { wrapped } from '../terminal/text-width.ts';
import { moverLines } from './why-movers.ts';

/** What lines begin with that go on with the one before. */
const HANGING = '  ';

/** Three lines at most but for their length. @param nowMs milliseconds since the epoch */
export function chartSummary(
  context: CommandContext,
  { session, timers }: ChartExplanation,
  { indent, nowMs, more }: { readonly indent: string; readonly nowMs: number; readonly more: string },
): string[] {
  const text = texts(context);
  const [next] = timers;
  const events = (list: readonly { readonly event: string }[]): string =>
    list.map(({ event }) => event).join(', ') || 'nothing';
  return [
    ...text(
      `Its chart: ${placeText(session.states)}. Possible now: ${events(session.possible)}. Not possible: ${events(session.impossible)}.${more}`,
      indent,
    ),
    ...(next === undefined ? [] : text(`By the clock: ${timerText(next, nowMs)}`, indent)),
  ].map((line) => context.out.styles.dim(line));
}

/** All that the charts say. @param nowMs milliseconds since the epoch */
export function chartDetails(
  context: CommandContext,
  { session, wake, calls, ingress, timers }: ChartExplanation,
  { indent, nowMs }: { readonly indent: string; readonly nowMs: number },
): string[] {
  const { styles } = context.out;
  const inside = `${indent}  `;
  const text = texts(context);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [`${indent}${styles.bold(title)}`, ...lines];
  const elsewhere =
    wake === undefined || wake.mayBeIn.length < 2
      ? []
      : text(`The log does not tell in which of these it is: ${wake.mayBeIn.join(', ')}.`, inside);
  return [
    ...section(`Chart of the session: ${placeText(session.states)}`, outlookLines(context, session, inside)),
    ...(wake === undefined
      ? []
      : section(`Chart of the wake that runs: ${placeText(wake.states)}`, [
          ...elsewhere,
          ...outlookLines(context, wake, inside),
        ])),
    ...calls.flatMap((call) =>
      section(
        `Chart of the call of ${printable(call.name)} (${printable(call.callId)}): ${placeText(call.states)}`,
        outlookLines(context, call, inside),
      ),
    ),
    ...section(
      'From outside',
      ingress.flatMap((each) => ingressLines(context, each, inside)),
    ),
    ...section(
      'By the clock',
      timers.length === 0
        ? text('Nothing: it happens when a person does something.', inside)
        : timers.flatMap((timer) => text(timerText(timer, nowMs), inside)),
    ),
  ];
}

type Text = (text: string, indent: string) => string[];

/** Paragraphs as wide as the terminal, with a hanging indent. What they say may come from anywhere. */
function texts({ out: { columns } }: CommandContext): Text {
  return (text, indent) =>
    wrapped(printable(text.replaceAll(/\s+/gu, ' ')), columns - indent.length - HANGING.length).map(
      (line, index) => `${indent}${index === 0 ? '' : HANGING}${line}`,
    );
}

function placeText(states: readonly OutlookState[]): string {
  return states.at(-1)?.id ?? 'its outermost state';
}

function outlookLines(
  context: CommandContext,
  { states, possible, impossible, byItself }: MovedOutlook,
  indent: string,
): string[] {
  const text = texts(context);
  return [
    ...states.flatMap(({ says }) => (says === undefined ? [] : text(says, indent))),
    ...[...new Set(byItself.map(({ event }) => event))].flatMap((event) =>
      text(`by itself: ${event} ${waysText(byItself.filter((step) => step.event === event))}`, indent),
    ),
    ...possible.flatMap((event) => possibleLines(context, event, indent)),
    ...impossible.flatMap((event) => text(impossibleText(event), indent)),
  ];
}

function possibleLines(
  context: CommandContext,
  { event, says = '', from, ways, dependsOn, movers, remark }: MovedEvent,
  indent: string,
): string[] {
  const { styles } = context.out;
  const text = texts(context);
  const inside = `${indent}    `;
  const [head = '', ...rest] = text(`${event} ${waysText(ways)}: ${says}`, `${indent}${HANGING}`);
  return [
    `${indent}${styles.green('+')} ${head.trimStart()}`,
    ...rest,
    ...(dependsOn === undefined ? [] : text(`Whether anything comes of it depends on ${dependsOn}.`, inside)),
    ...(from === undefined ? [] : text(`sent by ${from}`, inside)),
    ...(remark === undefined ? [] : text(remark, inside)),
    ...movers.flatMap((mover) =>
      moverLines(context, isShownBelow(mover) ? { ...mover, command: undefined } : mover, inside),
    ),
  ];
}

/** What may be sent from outside stands with its commands in a part of its own. */
function isShownBelow({ events }: Mover): boolean {
  return events.some((event) => event.startsWith('user.'));
}

function waysText(ways: readonly OutlookWay[]): string {
  return ways.map(wayText).join(', else ');
}

function wayText({ to, guard }: OutlookWay): string {
  return `→ ${to.length === 0 ? 'stays' : to.join(' and ')}${guard === undefined ? '' : ` if ${guard}`}`;
}

const WHY = {
  final: () => 'it is over',
  forbidden: () => 'the state forbids it',
  no_transition: (takenIn) =>
    takenIn.length === 0
      ? 'nothing is written for it'
      : `it is taken only in ${takenIn.map((state) => (state === '' ? 'the whole chart' : state)).join(', ')}`,
} as const satisfies Record<ImpossibleEvent['why'], (takenIn: readonly string[]) => string>;

function impossibleText({ event, why, takenIn, says = '' }: ImpossibleEvent): string {
  return `- ${event}: not now, ${WHY[why](takenIn)}. ${says}`;
}

function ingressLines(context: CommandContext, ingress: IngressOutlook, indent: string): string[] {
  const { styles } = context.out;
  const about = ingress.requestId === undefined ? '' : ` for request ${printable(ingress.requestId)}`;
  if (ingress.isAccepted)
    return [
      `${indent}${styles.green('+')} ${ingress.event}${about}`,
      ...ingress.movers.flatMap((mover) => moverLines(context, mover, `${indent}    `)),
    ];
  return texts(context)(
    `- ${ingress.event}${about} is refused: ${ingress.because} [${ingress.code}]. ${textAsTyped(context, ingress.hint)}`,
    indent,
  );
}

function timerText({ at, isDue, does }: SessionTimer, nowMs: number): string {
  const when = isDue ? 'due since' : `in ${durationText(Date.parse(at) - nowMs)}, at`;
  return `${when} ${localTime(at)}: ${does}`;
}

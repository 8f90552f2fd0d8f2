/**
 * The transcript of one session while it is told: who spoke last, which calls are open, what the steps of the wake have
 * used.
 */
import type { RunUsage } from '../../machines/run/run-output.ts';
import { toolInputGist } from './event-text.ts';
import type { Styles } from '../terminal/styles.ts';
import { durationText, oneLine, outerLines, printable } from '../terminal/text.ts';
import { broken, fitted, wrapped } from '../terminal/text-width.ts';

export interface SessionTranscriptOptions {
  readonly sessionId: string;
  readonly agentId: string;
  /** How many agents stand above this one. */
  readonly depth: number;
  /** What every line begins with. */
  readonly indent: string;
  /** Places of a line, without the indent. */
  readonly width: number;
  readonly styles: Styles;
  readonly commandFor: ((...words: readonly string[]) => string) | undefined;
}

/** A tool call that has been asked for and has not ended. */
interface OpenCall {
  readonly name: string;
  readonly gist: string;
  /** ISO-8601; absent when it waited for a person, which is not its own time. */
  readonly at?: string | undefined;
}

type Speaker = 'you' | 'agent' | 'wakechart';

/** Of an output: enough to see what it is and how it ended. */
const OUTPUT_LINES = { head: 4, tail: 4 } as const;
const TEXT_INDENT = '  ';
const DEEP_INDENT = '      ';

export class SessionTranscript {
  readonly options: SessionTranscriptOptions;
  readonly #calls = new Map<string, OpenCall>();
  /** Sessions that answer calls. */
  readonly #children = new Map<string, string>();
  readonly #steps: (RunUsage | undefined)[] = [];
  #speaker: Speaker | undefined;
  #lastCall: string | undefined;
  #wakeStartedAt: string | undefined;
  #lastDetour: string | undefined;

  constructor(options: SessionTranscriptOptions) {
    this.options = options;
  }

  get depth(): number {
    return this.options.depth;
  }

  forgetSpeaker(): void {
    this.#speaker = undefined;
    this.#lastCall = undefined;
  }

  /** Paragraphs of a speaker, under the speaker's name where another one spoke before. */
  says(speaker: Speaker, text: string, style?: keyof Styles): string[] {
    const { width, styles } = this.options;
    const lines = wrapped(printable(text).trim().replaceAll('\t', '  '), width - TEXT_INDENT.length);
    return [
      ...this.#heading(speaker),
      ...lines.map((line) => this.#line(`${TEXT_INDENT}${style === undefined ? line : styles[style](line)}`)),
    ];
  }

  /** The same in lines that come as they are to stand there, each of at most the width that is given. */
  tells(speaker: Speaker, lines: (width: number, styles: Styles) => readonly string[]): string[] {
    const { width, styles } = this.options;
    return [
      ...this.#heading(speaker),
      ...lines(width - TEXT_INDENT.length, styles).map((line) => this.#line(`${TEXT_INDENT}${line}`.trimEnd())),
    ];
  }

  /** A mark, then what happened, on one line. @param after what the line ends with, whatever has to be cut for it */
  notes(speaker: Speaker, mark: string, text: string, after = ''): string[] {
    const { width, styles } = this.options;
    const end = after === '' ? '' : ` ${styles.dim(after)}`;
    const shown = fitted(oneLine(text), width - TEXT_INDENT.length - 2 - (after === '' ? 0 : after.length + 1));
    return [...this.#heading(speaker), this.#line(`${TEXT_INDENT}${mark} ${shown}${end}`)];
  }

  /** The same on as many lines as it takes, for what its beginning does not tell. */
  remarks(speaker: Speaker, mark: string, text: string): string[] {
    const lines = wrapped(oneLine(text), this.options.width - TEXT_INDENT.length - 2);
    return [
      ...this.#heading(speaker),
      ...lines.map((line, index) => this.#line(`${TEXT_INDENT}${index === 0 ? mark : ' '} ${line}`)),
    ];
  }

  /** Who speaks in place of the first choice, told once as long as it is the same. */
  detour(text: string | undefined): string[] {
    const isNews = text !== undefined && text !== this.#lastDetour;
    this.#lastDetour = text;
    return isNews ? this.remarks('wakechart', '→', text) : [];
  }

  /** A call that an earlier wake left open. */
  remembers(callId: string, name: string, input: unknown): void {
    this.#calls.set(callId, { name, gist: oneLine(toolInputGist(input)) });
  }

  /** A call waits for a person: the time until then is not its own. */
  waits(callId: string): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) this.#calls.set(callId, { name: call.name, gist: call.gist });
  }

  calls(
    callId: string,
    { name, input, at }: { readonly name: string; readonly input: unknown; readonly at: string },
  ): string[] {
    const { styles, width } = this.options;
    const gist = oneLine(toolInputGist(input));
    this.#calls.set(callId, { name, gist, at });
    const shown = oneLine(name);
    const heading = this.#heading('agent');
    this.#lastCall = callId;
    return [
      ...heading,
      this.#line(
        `${TEXT_INDENT}${styles.cyan('▸')} ${styles.bold(shown)} ${fitted(gist, width - TEXT_INDENT.length - shown.length - 3)}`.trimEnd(),
      ),
    ];
  }

  /** The same, without a word about it: `folds` tells of it when it has ended. */
  begins(
    callId: string,
    { name, input, at }: { readonly name: string; readonly input: unknown; readonly at: string },
  ): void {
    this.#calls.set(callId, { name, gist: oneLine(toolInputGist(input)), at });
  }

  /** A call that has ended, on one line. @param after what the line ends with */
  folds(
    callId: string,
    {
      name,
      ending,
      isGood,
      at,
    }: { readonly name: string; readonly ending: string; readonly isGood: boolean; readonly at: string },
    after: string,
  ): string[] {
    const { styles, width } = this.options;
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    this.#children.delete(callId);
    const took = call?.at === undefined ? '' : durationText(Date.parse(at) - Date.parse(call.at));
    const shown = oneLine(name);
    const end = [isGood ? '' : ending, took, after].filter((part) => part !== '').join(' ');
    const gist = fitted(call?.gist ?? '', Math.max(0, width - TEXT_INDENT.length - shown.length - end.length - 4));
    const mark = isGood ? styles.green('✓') : styles.yellow('✗');
    const words = [
      mark,
      styles.bold(shown),
      gist,
      isGood ? '' : styles.yellow(ending),
      styles.dim(`${took} ${after}`.trim()),
    ];
    return [...this.#heading('agent'), this.#line(`${TEXT_INDENT}${words.filter((part) => part !== '').join(' ')}`)];
  }

  delegates(callId: string, childSessionId: string): void {
    this.#children.set(callId, childSessionId);
  }

  /** Whether a call will say what became of this child. */
  waitsForChild(sessionId: string): boolean {
    return [...this.#children.values()].includes(sessionId);
  }

  /** How a call ended, and the two ends of what came of it. */
  ends(
    callId: string,
    end: {
      readonly name: string;
      readonly ending: string;
      readonly isGood: boolean;
      readonly output: string;
      readonly at: string;
    },
  ): string[] {
    const { styles, width } = this.options;
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    this.#children.delete(callId);
    const took = call?.at === undefined ? '' : durationText(Date.parse(end.at) - Date.parse(call.at));
    const mark = end.isGood ? styles.green('✓') : styles.yellow('✗');
    const ending = end.isGood ? styles.green(end.ending) : styles.yellow(end.ending);
    // Where something else was told in between, it is not clear any more which call this is about.
    const which =
      this.#lastCall === callId
        ? ''
        : `${oneLine(end.name)} ${styles.dim(fitted(call?.gist ?? '', Math.max(0, width - 40)))} `;
    const heading = this.#heading('agent');
    this.#lastCall = undefined;
    return [
      ...heading,
      this.#line(`    ${mark} ${which}${ending} ${styles.dim(took)}`.trimEnd()),
      ...this.#outputLines(end.output),
    ];
  }

  /** Lines that belong to what stands above them. They are taken as they are. */
  details(lines: readonly string[], style: keyof Styles = 'dim'): string[] {
    const { styles, width } = this.options;
    return lines
      .flatMap((line) => broken(line, width - DEEP_INDENT.length))
      .map((line) => this.#line(`${DEEP_INDENT}${styles[style](line)}`));
  }

  /**
   * What belongs to what stands above it, in lines that fit into the width that is given, and look as they are to look.
   */
  below(lines: (width: number, styles: Styles) => readonly string[]): string[] {
    const { styles, width } = this.options;
    return lines(width - DEEP_INDENT.length, styles).map((line) => this.#line(`${DEEP_INDENT}${line}`));
  }

  /** A command of ours: never broken, since it has to work when it is pasted. */
  command(...words: readonly string[]): string[] {
    const { commandFor } = this.options;
    return commandFor === undefined ? [] : [this.#line(`${DEEP_INDENT}${commandFor(...words)}`)];
  }

  wakes(at: string): void {
    this.#wakeStartedAt = at;
    this.#steps.length = 0;
  }

  steps(usage: RunUsage | undefined): void {
    this.#steps.push(usage);
  }

  /** What the wake took and used, step by step. */
  rests(at: string): string[] {
    if (this.#steps.length === 0) return [];
    const { styles, width } = this.options;
    const took =
      this.#wakeStartedAt === undefined ? '' : durationText(Date.parse(at) - Date.parse(this.#wakeStartedAt));
    const tokens = this.#steps.flatMap((usage) =>
      usage?.inputTokens === undefined && usage?.outputTokens === undefined
        ? []
        : [`${countText(usage.inputTokens ?? 0)}→${countText(usage.outputTokens ?? 0)}`],
    );
    const costs = this.#steps.flatMap((usage) => usage?.cost ?? []);
    const parts = [
      `${this.#steps.length} step${this.#steps.length === 1 ? '' : 's'}`,
      tokens.length === 0 ? '' : `${tokens.join(', ')} tokens`,
      costs.length === 0
        ? ''
        : `$${costs.reduce((sum, cost) => sum + cost, 0).toFixed(4)}${costs.length > 1 ? ` (${costs.map((cost) => cost.toFixed(4)).join(' + ')})` : ''}`,
      took,
    ].filter((part) => part !== '');
    this.#steps.length = 0;
    this.forgetSpeaker();
    return wrapped(`── ${parts.join(' · ')}`, width).map((line) => this.#line(styles.dim(line)));
  }

  waitsFor(): string {
    const [call] = this.#calls.values();
    return call === undefined ? `${this.options.agentId} is at work` : `${call.name} ${call.gist}`;
  }

  #outputLines(output: string): string[] {
    const { styles, width } = this.options;
    const { first, omitted, last } = outerLines(output, OUTPUT_LINES);
    const cut = omitted === 0 ? [] : [`… ${omitted} lines …`];
    return [...first, ...cut, ...last].map((line) =>
      this.#line(`${DEEP_INDENT}${styles.dim(fitted(line.replaceAll('\t', '  '), width - DEEP_INDENT.length))}`),
    );
  }

  #heading(speaker: Speaker): string[] {
    const lines = this.headingOf(speaker);
    if (lines.length > 0) this.#lastCall = undefined;
    this.#speaker = speaker;
    return lines;
  }

  /** What would stand above words of this speaker now. */
  headingOf(speaker: Speaker): string[] {
    if (this.#speaker === speaker) return [];
    const { styles, agentId, width } = this.options;
    const names = {
      you: styles.cyan('you'),
      agent: styles.green(fitted(agentId, width)),
      wakechart: styles.dim('wakechart'),
    } as const satisfies Record<Speaker, string>;
    return ['', this.#line(styles.bold(names[speaker]))];
  }

  #line(text: string): string {
    return `${this.options.indent}${text}`;
  }
}

/** `812`, `1.2k`, `3.4M`. */
function countText(count: number): string {
  if (count < 1_000) return String(count);
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

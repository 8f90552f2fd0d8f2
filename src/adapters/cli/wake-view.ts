/** A wake as it is lived, for people: what the agent says, what it runs and how that ended, as the events come. */
import type { SessionEvent, SessionEventData } from '../../machines/session/session-event.ts';
import { toolEnding, toolInputText, toolOutputText } from './event-text.ts';
import type { Output } from './output.ts';
import type { Progress } from './progress.ts';
import { durationText, lastLines, localTime, oneLine, printable } from './text.ts';

export interface WakeViewOptions {
  readonly out: Output;
  readonly progress: Progress;
  /** How much of a tool's output is shown; the end of it, in lines. */
  readonly outputLines: number;
}

/** A tool call that has been asked for and has not ended. */
interface OpenCall {
  readonly what: string;
  readonly at: string;
}

const LABEL_WIDTH = 8;

export class WakeView {
  readonly #options: WakeViewOptions;
  readonly #calls = new Map<string, OpenCall>();

  constructor(options: WakeViewOptions) {
    this.#options = options;
  }

  async show(event: SessionEvent): Promise<void> {
    const lines = this.#linesOf(event);
    const { out, progress } = this.#options;
    if (lines.length > 0) {
      progress.clear();
      await out.line(lines.join('\n'));
    }
    this.#wait();
  }

  #linesOf(event: SessionEvent): string[] {
    const { styles } = this.#options.out;
    switch (event.type) {
      case 'user.message':
        return this.#labelled('hears', oneLine(event.data.text));
      case 'agent.thinking':
        return this.#labelled('thinks', styles.dim(oneLine(event.data.text)));
      case 'agent.message':
        return this.#labelled('says', printable(event.data.text).trim());
      case 'agent.tool_use':
        this.#calls.set(event.data.callId, { what: toolInputText(event.data.input), at: event.at });
        return [];
      case 'agent.tool_result':
        return this.#resultLines(event.data, event.at);
      case 'agent.custom_tool_use':
        return this.#labelled('asks', `${oneLine(event.data.name)} ${oneLine(toolInputText(event.data.input))} ${styles.dim(`(request ${event.data.requestId})`)}`);
      case 'agent.question_asked':
        return this.#labelled('asks', `${oneLine(event.data.question)} ${styles.dim(`(request ${event.data.requestId})`)}`);
      case 'permission.requested':
        return this.#labelled('asks', `to run ${oneLine(event.data.toolName)} ${oneLine(toolInputText(event.data.input))} ${styles.dim(`(request ${event.data.requestId})`)}`);
      case 'user.tool_confirmation':
        return this.#labelled('hears', `${oneLine(event.data.toolName)} is ${event.data.allowed ? 'allowed' : 'denied'}${event.data.note === undefined ? '' : `: ${oneLine(event.data.note)}`}`);
      case 'user.answer':
        return this.#labelled('hears', oneLine(event.data.response));
      case 'user.define_outcome':
        return this.#labelled('hears', `the outcome is to be: ${oneLine(event.data.title)}`);
      case 'user.interrupt':
        return this.#labelled('hears', styles.yellow(`interrupted${event.data.reason === undefined ? '' : `: ${oneLine(event.data.reason)}`}`));
      case 'session.child_idle':
        return this.#labelled('hears', `child ${event.data.childSessionId} rests: ${oneLine(event.data.summary)}`);
      case 'session.parked':
        return this.#labelled('parked', styles.yellow(oneLine(event.data.reason)));
      case 'wake.cancelled':
        return this.#labelled('queues', `a queued wake was cancelled: ${event.data.because}`);
      case 'wake.queued':
        return this.#labelled('queues', `${oneLine(event.data.reason)}, due ${localTime(event.data.dueAt)}`);
      case 'wake.refused':
        return this.#labelled('queues', `${oneLine(event.data.reason)}: refused, ${event.data.because}`);
      case 'learning.captured':
        return this.#labelled('learns', oneLine(event.data.title));
      case 'tool.skipped':
        return this.#labelled('lacks', `${oneLine(event.data.name)}: ${oneLine(event.data.reason)}`);
      case 'directive.rejected':
        return this.#labelled('unclear', oneLine(event.data.reason));
      // Bookkeeping: it shows in what comes of it.
      case 'session.created':
      case 'session.status_changed':
      case 'session.status_idle':
      case 'session.unparked':
      case 'session.child_created':
      case 'session.parent_told':
      case 'agent.tool_started':
      case 'permission.resolved':
      case 'request.cancelled':
      case 'message.consumed':
      case 'user.custom_tool_result':
      case 'wake.started':
      case 'wake.ended':
      case 'span.started':
      case 'span.completed':
      case 'directive.accepted':
      case 'event.unrecognized':
        return [];
    }
  }

  #resultLines({ callId, name, outcome, output }: SessionEventData<'agent.tool_result'>, at: string): string[] {
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    const { out, outputLines } = this.#options;
    const took = call === undefined ? '' : durationText(Date.parse(at) - Date.parse(call.at));
    const ending = toolEnding({ outcome, output });
    const state = ending.isGood ? out.styles.green(ending.text) : out.styles.yellow(ending.text);
    const { lines, omitted } = lastLines(toolOutputText(output), outputLines);
    const cut = omitted > 0 && outputLines > 0 ? [`… ${omitted} lines before`] : [];
    return [
      ...this.#labelled('runs', [oneLine(call?.what ?? name), out.styles.dim('→'), state, out.styles.dim(took)].filter(Boolean).join(' ')),
      ...[...cut, ...lines].map((line) => `${' '.repeat(LABEL_WIDTH + 4)}${out.styles.dim(oneLineKept(line, out.columns - LABEL_WIDTH - 5))}`),
    ];
  }

  /** Lines after the first stand under it. */
  #labelled(label: string, text: string): string[] {
    return text.split('\n').map((line, index) => `  ${this.#options.out.styles.cyan((index === 0 ? label : '').padEnd(LABEL_WIDTH))}${line}`.trimEnd());
  }

  #wait(): void {
    const [call] = this.#calls.values();
    this.#options.progress.waitFor(call === undefined ? 'the agent is at work' : call.what);
  }
}

/** Indentation is part of what a program prints. */
function oneLineKept(line: string, width: number): string {
  const text = line.replaceAll('\t', '  ');
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

/** A wake as it is lived, for people: what the agent says, what it runs and how that ended, as the events come. */
import { environmentText } from '../env/text.ts';
import { restoredText } from '../../machines/workspace-copy/copy-notes.ts';
import { candidateText } from '../../machines/run/candidate.ts';
import type {
  SessionEvent,
  SessionEventData,
  SessionEventOf,
  SessionEventType,
} from '../../machines/session/session-event.ts';
import { handoverLines, surroundings, toolCallText, toolEnding, toolOutputText } from '../session/event-text.ts';
import { exactLine, unmistakableLine } from '../../machines/exact-text.ts';
import type { Output } from '../terminal/output.ts';
import { detourText, failedAttemptText, lessToReadText } from '../model-text.ts';
import { inputLines, permissionLines } from '../permission/text.ts';
import type { PermissionTextOptions } from '../permission/text.ts';
import type { Progress } from '../terminal/progress.ts';
import { counted, durationText, lastLines, localTime, oneLine, printable } from '../terminal/text.ts';

export interface WakeViewOptions {
  readonly out: Output;
  readonly agentId: string;
  readonly progress: Progress;
  /** How much of a tool's output is shown; the end of it, in lines. */
  readonly outputLines: number;
  /** The command that answers what a turn waits for while it goes on; undefined where a person is asked at once. */
  readonly commandFor?: ((...words: readonly string[]) => string) | undefined;
}

/** A tool call that has been asked for and has not ended. */
interface OpenCall {
  readonly what: string;
  /** ISO-8601; absent when it waited for a person, which is not its own time. */
  readonly at?: string | undefined;
  /** The backend runs it in the middle of its turn, which waits for what it asks. */
  readonly isLive?: boolean | undefined;
}

const LABEL_WIDTH = 8;
const DETAIL_INDENT = ' '.repeat(LABEL_WIDTH + 4);

/** Of what is asked for, the first and the last. */
const REQUEST_LINES = 20;

type Lines<Type extends SessionEventType> = (view: WakeView, event: SessionEventOf<Type>) => string[];

export class WakeView {
  readonly #options: WakeViewOptions;
  readonly #calls = new Map<string, OpenCall>();
  #lastDetour: string | undefined;

  /** What is shown of each event. A new type of event does not compile until it has an entry. */
  static readonly #lines: { readonly [Type in SessionEventType]: Lines<Type> } = {
    'user.message': (view, { data }) => view.#labelled('hears', oneLine(data.text)),
    'user.tool_confirmation': (view, { data }) =>
      view.#labelled(
        'hears',
        `${oneLine(data.toolName)} is ${data.allowed ? 'allowed' : 'denied'}${data.note === undefined ? '' : `: ${oneLine(data.note)}`}`,
      ),
    'user.answer': (view, { data }) => view.#labelled('hears', oneLine(data.response)),
    'user.define_outcome': (view, { data }) => view.#labelled('hears', `the outcome is to be: ${oneLine(data.title)}`),
    'user.interrupt': (view, { data }) =>
      view.#labelled(
        'hears',
        view.#options.out.styles.yellow(`interrupted${data.reason === undefined ? '' : `: ${oneLine(data.reason)}`}`),
      ),
    'session.child_idle': (view, { data }) =>
      view.#labelled('hears', `child ${data.childSessionId} rests: ${oneLine(data.summary)}`),
    'subagent.started': (view, { data }) =>
      view.#labelled(
        'starts',
        `${data.jobId}, the agent ${oneLine(data.agentId)}${surroundings({ isolation: data.isolation })}${data.prompt === undefined ? '' : `: ${oneLine(data.prompt)}`} ${view.#options.out.styles.dim(`(session ${data.childSessionId})`)}`,
      ),
    'subagent.ended': (view, { data }) => [
      ...view.#labelled('hears', `${data.jobId} ${data.status}: ${oneLine(data.error?.message ?? data.summary)}`),
      ...handoverLines(data).map((line) => `${DETAIL_INDENT}${line}`),
    ],
    'session.parked': (view, { data }) =>
      view.#labelled('parked', view.#options.out.styles.yellow(oneLine(data.reason))),
    'span.started': (view, { data }) => view.#detour(detourText(data)),
    'run.attempt_failed': (view, { data }) =>
      view.#labelled('fails', view.#options.out.styles.yellow(oneLine(failedAttemptText(data)))),
    'run.candidate_selected': (view, { data }) =>
      view.#labelled('tries', oneLine(`${candidateText(data.candidate)}: ${data.because}`)),
    'run.waiting': (view, { data }) =>
      view.#labelled('waits', `${durationText(data.waitMs)}: ${oneLine(data.because)}`),
    'run.context_reduced': (view, { data }) => view.#labelled('less', `is given to the model: ${lessToReadText(data)}`),
    'backend.session_bound': (view, { data }) =>
      data.reseeded === undefined ? [] : view.#labelled('begins', oneLine(data.reseeded)),
    'agent.thinking': (view, { data }) => view.#labelled('thinks', view.#options.out.styles.dim(oneLine(data.text))),
    'agent.message': (view, { data }) => view.#labelled('says', printable(data.text).trim()),
    'agent.tool_use': (view, { data, at }) => {
      view.#calls.set(data.callId, { what: toolCallText(data.name, data.input), at, isLive: data.by === 'backend' });
      return [];
    },
    'agent.tool_result': (view, { data, at }) => view.#resultLines(data, at),
    'agent.custom_tool_use': (view, { data }) =>
      view.#asked(`a client to run ${exactLine(data.name)}`, data.requestId, (options) =>
        inputLines(data.input, options),
      ),
    'agent.question_asked': (view, { data }) => view.#asked(oneLine(data.question), data.requestId),
    'permission.requested': (view, { data, sessionId }) => {
      const call = view.#calls.get(data.callId);
      if (call !== undefined) view.#calls.set(data.callId, { what: call.what });
      const asked = view.#asked(`to run ${exactLine(data.toolName)}`, data.requestId, (options) =>
        permissionLines(data, options),
      );
      return call?.isLive === true ? [...asked, ...view.#answering(sessionId, data.requestId)] : asked;
    },
    'wake.queued': (view, { data }) =>
      view.#labelled('queues', `${oneLine(data.reason)}, due ${localTime(data.dueAt)}`),
    'wake.refused': (view, { data }) => view.#labelled('queues', `${oneLine(data.reason)}: refused, ${data.because}`),
    'wake.cancelled': (view, { data }) => view.#labelled('queues', `a queued wake was cancelled: ${data.because}`),
    'learning.captured': (view, { data }) => view.#labelled('learns', oneLine(data.title)),
    'agent.subflow_started': (view, { data }) =>
      view.#labelled(
        'asks',
        `the agent ${data.agentId}${surroundings(data)}: ${oneLine(data.message)} ${view.#options.out.styles.dim(`(session ${data.childSessionId})`)}`,
      ),
    'agent.tool_requeued': (view, { data }) =>
      view.#labelled('repeats', `a call that a crash had cut off, attempt ${data.attempt}`),
    'context.compacted': (view, { data }) =>
      view.#labelled('sums up', `what came before: ${data.tokensBefore} tokens are ${data.tokensAfter} now`),
    'learning.kept': (view, { data }) =>
      data.as === 'new' ? [] : view.#labelled('knew', 'what it learned was known already'),
    'environment.entered': (view, { data }) => view.#labelled('enters', environmentText(data)),
    'workspace.restored': (view, { data }) => view.#labelled('moves', oneLine(restoredText(data))),
    'log.loss_accepted': (view, { data }) => view.#labelled('lost', oneLine(data.what)),
    'workspace.not_copied': (view, { data }) => view.#labelled('stays', oneLine(data.reason)),
    'outcome.defined': (view, { data }) => view.#labelled('aims at', oneLine(data.title)),
    'outcome.graded': (view, { data }) => view.#labelled('grades', `${data.grade}: ${oneLine(data.because)}`),
    'outcome.evaluated': (view, { data }) => view.#labelled('judges', `${data.verdict}: ${oneLine(data.because)}`),
    'memory.promoted': (view, { data }) =>
      view.#labelled(
        'recalls',
        `${counted(data.learningIds.length, 'learning')} from now on, in version ${data.version} of what all its sessions share`,
      ),
    'files.promoted': (view, { data }) =>
      view.#labelled('shares', `${data.paths.map(oneLine).join(', ')}, in version ${data.version}`),
    'promotion.refused': (view, { data }) =>
      view.#labelled('holds', `what it learned is not promoted: ${oneLine(data.because)}`),
    'tool.skipped': (view, { data }) => view.#labelled('lacks', `${oneLine(data.name)}: ${oneLine(data.reason)}`),
    'directive.rejected': (view, { data }) => view.#labelled('unclear', oneLine(data.reason)),
    // Bookkeeping: it shows in what comes of it.
    'session.created': () => [],
    'session.status_changed': () => [],
    'session.status_idle': () => [],
    'session.unparked': () => [],
    'session.child_created': () => [],
    'session.parent_told': () => [],
    'message.consumed': () => [],
    'user.custom_tool_result': () => [],
    'agent.tool_started': () => [],
    'permission.resolved': () => [],
    'request.cancelled': () => [],
    'wake.started': () => [],
    'wake.ended': () => [],
    'span.completed': () => [],
    'directive.accepted': () => [],
    'event.unrecognized': () => [],
  };

  constructor(options: WakeViewOptions) {
    this.#options = options;
  }

  /** A call that an earlier wake left open: what it is, without a word about it. */
  remember({ data }: SessionEventOf<'agent.tool_use'>): void {
    this.#calls.set(data.callId, { what: toolCallText(data.name, data.input) });
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
    // Each entry takes exactly the events of its own key, which the compiler cannot see through the union.
    const describe = WakeView.#lines[event.type] as Lines<SessionEventType>;
    return describe(this, event);
  }

  #resultLines({ callId, name, outcome, output }: SessionEventData<'agent.tool_result'>, at: string): string[] {
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    const { out, outputLines } = this.#options;
    const took = call?.at === undefined ? '' : durationText(Date.parse(at) - Date.parse(call.at));
    const ending = toolEnding({ outcome, output });
    const state = ending.isGood ? out.styles.green(ending.text) : out.styles.yellow(ending.text);
    const { lines, omitted } = lastLines(toolOutputText(output), outputLines);
    const cut = omitted > 0 && outputLines > 0 ? [`… ${omitted} lines before`] : [];
    return [
      ...this.#labelled(
        'runs',
        [unmistakableLine(call?.what ?? name), out.styles.dim('→'), state, out.styles.dim(took)]
          .filter(Boolean)
          .join(' '),
      ),
      ...[...cut, ...lines].map(
        (line) => `${DETAIL_INDENT}${out.styles.dim(oneLineKept(line, out.columns - LABEL_WIDTH - 5))}`,
      ),
      ...handoverLines(output).map((line) => `${DETAIL_INDENT}${line}`),
    ];
  }

  #asked(
    what: string,
    requestId: string,
    details: (options: PermissionTextOptions) => readonly string[] = () => [],
  ): string[] {
    const { out, agentId } = this.#options;
    const lines = details({
      styles: out.styles,
      agentId,
      width: out.columns - DETAIL_INDENT.length,
      maxLines: REQUEST_LINES,
      wayToAll: '`session status` shows them',
    });
    return [
      ...this.#labelled('asks', `${what} ${out.styles.dim(`(request ${requestId})`)}`),
      ...lines.map((line) => `${DETAIL_INDENT}${line}`),
    ];
  }

  /** Who speaks in place of the first choice, told once as long as it is the same. */
  #detour(text: string | undefined): string[] {
    const isNews = text !== undefined && text !== this.#lastDetour;
    this.#lastDetour = text;
    return isNews ? this.#labelled('tries', oneLine(text)) : [];
  }

  /** Never broken, since it has to work when it is pasted. */
  #answering(sessionId: string, requestId: string): string[] {
    const { commandFor } = this.#options;
    if (commandFor === undefined) return [];
    const answer = ['session', 'confirm-tool', '--session', sessionId, '--request', requestId] as const;
    return [
      `${DETAIL_INDENT}the turn waits for it; to answer:`,
      ...['--allow', '--deny'].map((word) => `${DETAIL_INDENT}  ${commandFor(...answer, word)}`),
    ];
  }

  /** Lines after the first stand under it. */
  #labelled(label: string, text: string): string[] {
    return text
      .split('\n')
      .map((line, index) =>
        `  ${this.#options.out.styles.cyan((index === 0 ? label : '').padEnd(LABEL_WIDTH))}${line}`.trimEnd(),
      );
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

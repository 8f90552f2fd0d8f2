/**
 * One persistent shell: it takes one command at a time, and knows what it is doing, where it is and how it ended.
 *
 *   opening ──▶ ready ⇄ running | adjusting ──▶ ended
 *
 *   opening:    its process is being started and has not answered yet.
 *   ready:      the process waits for a script; nothing is in the foreground.
 *   running:    a command of the model's is under way, attended or not.
 *   adjusting:  a variable or the folder is being changed.
 *   ended:      no process; its history and last output can be read until it is forgotten.
 */
import type { RuntimeError } from '../../machines/errors.ts';
import type { ExportedVariables } from '../../machines/turn/shell/export-report.ts';
import { KeptOutput } from '../../machines/turn/shell/kept-output.ts';
import {
  INTERRUPT_GRACES_MS,
  SHELL_ANSWER_MS,
  SHELL_IDLE_MS,
  SHELL_UNATTENDED_MS,
} from '../../machines/turn/shell/shell-limits.ts';
import {
  changeFolderScript,
  commandScript,
  openingScript,
  setVariableScript,
} from '../../machines/turn/shell/shell-script.ts';
import type { ShellHistory } from '../../machines/turn/shell/shell-results.ts';
import type { ShellRecord, ShellRecordVariable } from '../../machines/turn/shell/shell-record.ts';
import type { Clock, TimerHandle } from '../clock/clock.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import { RunningCommand } from './running-command.ts';
import {
  shellBusy,
  shellDidNotOpen,
  shellEnded,
  shellFolderGone,
  shellFolderRefused,
  shellVariableRefused,
} from './shell-errors.ts';
import { ShellExports } from './shell-exports.ts';
import type { ShellSecrets } from './shell-exports.ts';
import { ShellHistories } from './shell-history.ts';
import type { EndEntry, HistoryBefore } from './shell-history.ts';
import { ShellKeeping } from './shell-keeping.ts';
import type { ShellRecords } from './shell-host.ts';
import { ShellProcess } from './shell-process.ts';
import type {
  OutputSink,
  ProcessEnd,
  ScriptAnswer,
  ScriptEnd,
  ShellProcessPorts,
  ShellProcessRequest,
} from './shell-process.ts';
import { waitFor } from '../clock/waiting.ts';

export interface ShellPorts extends ShellProcessPorts {
  readonly clock: Clock;
  /** Where what is known of open shells is kept. Without it none is opened again. */
  readonly records?: ShellRecords | undefined;
}

export interface ShellRequest extends Omit<ShellProcessRequest, 'sessionId'> {
  readonly session: SessionIdentity;
  /** Of the environment in which it is opened. */
  readonly fingerprint?: string | undefined;
  /** What is known of the shell in whose place it is, and of what it is given. */
  readonly before?: (HistoryBefore & Pick<ShellRecord, 'exports'>) | undefined;
  /** What of the values of variables may be kept nowhere. */
  readonly secrets?: ShellSecrets | undefined;
}

interface NamedValue {
  readonly name: string;
  /** Null: it is not set. */
  readonly value: string | null;
}

export interface BroughtBack {
  readonly cwd?: string | undefined;
  /** As calls have set them. */
  readonly variables: readonly NamedValue[];
  /** As commands have exported them: those hold besides. */
  readonly exports: readonly NamedValue[];
}

/** `keep`: what is known of it stays, so that it can be opened again. */
export interface ShellEnding {
  readonly records: 'keep' | 'remove';
}

type ShellState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'running'; readonly command: RunningCommand; readonly endEntry: EndEntry }
  | { readonly kind: 'adjusting' }
  | { readonly kind: 'ended'; readonly why: string };

const NOTHING_KEPT = { headBytes: 0, tailBytes: 0 };
/** Of what a shell says that does not open. */
const SAID_KEPT = { headBytes: 500, tailBytes: 0 };

export class Shell {
  readonly name: string;
  readonly #ports: ShellPorts;
  readonly #request: ShellRequest;
  readonly #keeping: ShellKeeping;
  /** Tells this shell from others of its name. */
  readonly instance: string;
  readonly #history: ShellHistories;
  readonly #exports: ShellExports;
  /** As the shell said last. */
  #exported: ExportedVariables | undefined;
  #secrets: ShellSecrets | undefined;
  /** Called when it has ended and no caller has asked about it for long. */
  readonly #onForgotten: () => void;
  #state: ShellState = { kind: 'opening' };
  #process: ShellProcess | undefined;
  #opening: Promise<void> | undefined;
  #cwd: string | undefined;
  #last: RunningCommand | undefined;
  /** Why it is being ended by us. The first cause stays. */
  #endReason: string | undefined;
  /** What becomes of what is known of it. A shell that ends by itself is one that is not wanted any more. */
  #ending: ShellEnding['records'] | undefined;
  #idleTimer: TimerHandle | undefined;
  #isDisposed = false;
  #leftOver: string | undefined;

  constructor(ports: ShellPorts, request: ShellRequest, onForgotten: () => void) {
    this.name = request.name;
    this.#ports = ports;
    this.#request = request;
    this.#history = new ShellHistories(ports.clock, request.before);
    this.#exports = new ShellExports(request.before?.exports);
    this.#secrets = request.secrets;
    this.instance = ports.ids.next();
    this.#keeping = new ShellKeeping({
      records: ports.records,
      session: request.session,
      name: request.name,
      instance: this.instance,
    });
    this.#onForgotten = onForgotten;
    this.#cwd = request.cwd;
  }

  get isOpen(): boolean {
    return this.#state.kind !== 'ended';
  }

  /** Where a command would run: absolute, without symbolic links. Undefined when that folder is gone. */
  get cwd(): string | undefined {
    // Its folder may have been moved since the shell last said where it is.
    const now = this.#state.kind === 'ready' ? this.#process?.folder() : undefined;
    if (now === undefined || now.kind === 'unknown') return this.#cwd;
    return now.kind === 'known' ? now.path : undefined;
  }

  get fingerprint(): string | undefined {
    return this.#request.fingerprint;
  }

  /** Why it is not open any more, as a clause. */
  get endedBecause(): string | undefined {
    return this.#state.kind === 'ended' ? this.#state.why : undefined;
  }

  /** What is needed to open it again. */
  record(): ShellRecord {
    const { cwd = this.#cwd, fingerprint, instance } = this;
    const { kept } = this.#exports;
    return {
      version: 1,
      instance,
      ...(cwd === undefined ? {} : { cwd }),
      ...(fingerprint === undefined ? {} : { fingerprint }),
      ...this.#history.known,
      ...(kept === undefined ? {} : { exports: kept }),
    };
  }

  /** Resolves when what is known of it is kept, as far as that can be. */
  saved(): Promise<void> {
    return this.#keeping.settled();
  }

  /** What could not be ended with it, in words. */
  get leftOver(): string | undefined {
    return this.#leftOver;
  }

  /** The last command, whether it runs or has ended. */
  get lastCommand(): RunningCommand | undefined {
    return this.#last;
  }

  /** Starts its process. Resolves when it has answered. @throws RuntimeError SHELL_NOT_OPENED; then it has ended */
  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /**
   * Begins a command, at once: nothing can come between. @throws RuntimeError SHELL_CLOSED, SHELL_BUSY or
   * SHELL_FOLDER_GONE
   */
  begin(text: string, secrets?: ShellSecrets): RunningCommand {
    const process = this.#processAtRest();
    if (this.cwd === undefined) throw shellFolderGone(this.name);
    // Of the wake that it is for.
    this.#secrets = secrets ?? this.#secrets;
    const command = new RunningCommand(() => secrets?.bytes());
    this.#last = command;
    this.#state = { kind: 'running', command, endEntry: this.#history.begin(secrets?.text(text) ?? text) };
    this.touch();
    this.#save();
    void process.run((nonce) => commandScript(text, nonce), command).then((end) => this.#onScriptEnd(end));
    return command;
  }

  /** @param folder absolute @throws RuntimeError also SHELL_FOLDER_REFUSED */
  async changeFolder(folder: string): Promise<string> {
    const { exitCode } = await this.#adjust(`cd ${folder}`, true, (nonce) => changeFolderScript(folder, nonce));
    if (exitCode !== 0) throw shellFolderRefused(this.name, folder);
    return this.cwd ?? folder;
  }

  /** @param value null removes it @throws RuntimeError also SHELL_VARIABLE_REFUSED */
  async setVariable(variable: ShellRecordVariable, value: string | null): Promise<void> {
    const { name } = variable;
    // Before the shell is asked, so that no value that the log has is kept a second time. One that is in no log is kept
    // as others are.
    this.#exports.noteGiven(name, 'seq' in variable ? value : null);
    const { exitCode, exported } = await this.#adjust(`${value === null ? 'unset' : 'export'} ${name}`, true, (nonce) =>
      setVariableScript({ name, value }, nonce),
    );
    if (exitCode !== 0) throw shellVariableRefused(this.name, name);
    this.#history.noteVariable(variable);
    this.#noteExports(exported);
    this.#save();
  }

  /** What was in the shell before, which its history knows. @returns what it does not take, in words */
  async bringBack({ cwd, variables, exports }: BroughtBack): Promise<string[]> {
    const refused: string[] = [];
    for (const variable of [...variables, ...exports]) {
      const { exitCode } = await this.#adjust('', false, (nonce) => setVariableScript(variable, nonce));
      if (exitCode !== 0) refused.push(`the variable ${variable.name}: the shell does not let it be changed`);
    }
    for (const { name, value } of variables) this.#exports.noteGiven(name, value);
    if (cwd !== undefined && cwd !== this.cwd) {
      const { exitCode } = await this.#adjust('', false, (nonce) => changeFolderScript(cwd, nonce));
      if (exitCode !== 0) refused.push(`its folder ${cwd}, which cannot be entered any more`);
    }
    this.#exports.noteBroughtBack();
    this.#noteExports(this.#exported);
    this.#save();
    return refused;
  }

  /** Stops a command: by an interrupt, and with the shell when that does not help in time. Idempotent. */
  stop(command: RunningCommand): Promise<void> {
    if (command.outcome !== undefined) return Promise.resolve();
    command.stopping ??= this.#stop(command);
    return command.stopping;
  }

  /** Ends it and everything that runs in it. @param reason as a clause */
  async end(reason: string, { records }: ShellEnding = { records: 'remove' }): Promise<void> {
    this.#endReason ??= reason;
    this.#ending ??= records;
    // One that is only just starting is ended when there is something to end.
    if (this.#process === undefined) await this.#opening?.catch(() => undefined);
    await this.#process?.end(reason);
    // No process may find a record of it after this that should not.
    await this.saved();
  }

  /** A caller is interested: its time without use begins anew. */
  touch(): void {
    const { clock } = this.#ports;
    clock.clearTimeout(this.#idleTimer);
    if (this.#isDisposed) return;
    this.#idleTimer = clock.setTimeout(
      () => this.#onUnused(),
      this.#state.kind === 'running' ? SHELL_UNATTENDED_MS : SHELL_IDLE_MS,
    );
  }

  /** Nothing of it is needed any more. */
  dispose(): void {
    this.#isDisposed = true;
    this.#ports.clock.clearTimeout(this.#idleTimer);
  }

  describe(): ShellHistory {
    const { entries, forgotten, variables } = this.#history;
    const state = this.#state;
    const { cwd } = this;
    return {
      shell: this.name,
      open: this.isOpen,
      ...(state.kind === 'ended' ? { ended: state.why } : {}),
      ...(this.isOpen && cwd !== undefined ? { cwd } : {}),
      variables,
      entries,
      ...(forgotten > 0 ? { forgotten } : {}),
    };
  }

  /** How many processes run in it now, in the foreground or left behind. */
  get running(): number {
    return this.#process !== undefined && this.isOpen ? this.#process.running() : 0;
  }

  /** What a call on it is told when it has ended. */
  closedError(): RuntimeError | undefined {
    return this.#state.kind === 'ended' ? shellEnded(this.name, this.#state.why) : undefined;
  }

  async #open(): Promise<void> {
    const said = new KeptOutput(SAID_KEPT);
    try {
      const process = await ShellProcess.start(this.#ports, {
        ...this.#request,
        sessionId: this.#request.session.sessionId,
      });
      this.#process = process;
      void process.gone.then((end) => this.#onGone(end));
      const end = await this.#answer(process, openingScript, said);
      if (end.kind === 'gone') throw shellDidNotOpen(this.name, this.#endReason ?? withWords(endOf(end.end), said));
      if (this.#endReason !== undefined) throw shellDidNotOpen(this.name, this.#endReason);
      this.#cwd = end.end.cwd;
      this.#exports.noteOpening(end.end.exported);
      this.#noteExports(end.end.exported);
      this.#state = { kind: 'ready' };
      this.touch();
      this.#save();
      await this.saved();
    } catch (error) {
      if (this.isOpen) this.#state = { kind: 'ended', why: 'it did not open' };
      throw error;
    }
  }

  async #adjust(entry: string, isNoted: boolean, script: (nonce: string) => string): Promise<ScriptAnswer> {
    const process = this.#processAtRest();
    this.#state = { kind: 'adjusting' };
    const endEntry: EndEntry = isNoted ? this.#history.begin(entry) : () => undefined;
    const end = await this.#answer(process, script);
    if (end.kind === 'gone') {
      endEntry({ status: 'shell_ended' });
      this.#onGone(end.end);
      throw this.closedError() ?? shellEnded(this.name, endOf(end.end));
    }
    const { exitCode, cwd, exported } = end.end;
    endEntry({ status: 'exited', exitCode });
    this.#cwd = cwd;
    this.#noteExports(exported);
    this.#state = { kind: 'ready' };
    this.touch();
    this.#save();
    return end.end;
  }

  /** The answer to a script that takes no time; a shell that does not give it is ended. */
  async #answer(
    process: ShellProcess,
    script: (nonce: string) => string,
    output: OutputSink = this.#last ?? new KeptOutput(NOTHING_KEPT),
  ): Promise<ScriptEnd> {
    const answer = process.run(script, output);
    if ((await waitFor(answer, { clock: this.#ports.clock, timeoutMs: SHELL_ANSWER_MS })) !== 'over') {
      this.#endReason ??= `it did not answer within ${SHELL_ANSWER_MS / 1000} seconds`;
      await process.end(this.#endReason);
    }
    return answer;
  }

  async #stop(command: RunningCommand): Promise<void> {
    for (const timeoutMs of INTERRUPT_GRACES_MS) {
      this.#process?.interrupt();
      if ((await waitFor(command.over, { clock: this.#ports.clock, timeoutMs })) === 'over') return;
    }
    this.#endReason ??= 'it had to be ended, since its command did not stop when it was interrupted';
    await this.#process?.end(this.#endReason);
    await command.over;
  }

  #onScriptEnd(end: ScriptEnd): void {
    if (end.kind === 'gone') return this.#onGone(end.end);
    if (this.#state.kind !== 'running') return;
    const { command, endEntry } = this.#state;
    const { exitCode, cwd, exported } = end.end;
    this.#cwd = cwd;
    this.#noteExports(exported);
    this.#state = { kind: 'ready' };
    endEntry({ status: command.stopping === undefined ? 'exited' : 'stopped', exitCode });
    this.#save();
    command.end({ exitCode });
    this.touch();
  }

  #onGone(end: ProcessEnd): void {
    const state = this.#state;
    if (state.kind === 'ended') return;
    const cause =
      this.#endReason ?? `it ended ${state.kind === 'running' ? 'with its command' : 'by itself'}: ${endOf(end)}`;
    const why =
      end.leftOver === undefined ? cause : `${cause}; some of what ran in it could not be ended: ${end.leftOver}`;
    this.#leftOver = end.leftOver;
    this.#state = { kind: 'ended', why };
    if (state.kind === 'running') {
      state.endEntry({ status: 'shell_ended', exitCode: end.exitCode });
      state.command.end({ exitCode: end.exitCode ?? null, shellEnded: why });
    }
    if (this.#ending === 'keep') this.#save();
    else this.#keeping.remove();
    this.touch();
  }

  #noteExports(exported: ExportedVariables | undefined): void {
    this.#exported = exported;
    this.#exports.note(exported, { variables: this.#history.known.variables, secrets: this.#secrets });
  }

  #save(): void {
    this.#keeping.save(() => this.record());
  }

  #onUnused(): void {
    if (this.#state.kind === 'ended') return this.#onForgotten();
    const unusedMs = this.#state.kind === 'running' ? SHELL_UNATTENDED_MS : SHELL_IDLE_MS;
    void this.end(`it was closed after ${unusedMs / 60_000} minutes in which it was not used`, { records: 'keep' });
  }

  /** @throws RuntimeError SHELL_CLOSED or SHELL_BUSY */
  #processAtRest(): ShellProcess {
    const state = this.#state;
    const closed = this.closedError();
    if (closed !== undefined) throw closed;
    if (this.#endReason !== undefined) throw shellEnded(this.name, this.#endReason);
    if (state.kind === 'ready' && this.#process !== undefined) return this.#process;
    throw shellBusy(
      this.name,
      state.kind === 'running'
        ? 'a command runs in it'
        : state.kind === 'opening'
          ? 'it is just being opened'
          : 'it is just being changed',
    );
  }
}

function withWords(how: string, said: KeptOutput): string {
  const { output } = said.page();
  return output.trim() === '' ? how : `${how}, after it said "${output.trim()}"`;
}

function endOf({ exitCode, signalCode, reason }: ProcessEnd): string {
  if (exitCode !== undefined) return `exit code ${exitCode}`;
  return signalCode === undefined ? (reason ?? 'nothing said about how') : `the signal ${signalCode}`;
}

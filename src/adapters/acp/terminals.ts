/**
 * The terminals of an agent: commands that it has us run, each allowed as a command first, and none of which outlives
 * the turn.
 */
import type { CreateTerminalRequest, CreateTerminalResponse, TerminalOutputResponse } from '@agentclientprotocol/sdk';
import { stat } from 'node:fs/promises';
import type { ToolLedger } from '../../actors/run/tool-ledger.ts';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import { messageOf } from '../../machines/errors.ts';
import { RequestRefused } from './agent-link.ts';
import { startProgram } from '../system/tracked-program.ts';
import type { ServedCalls } from './served-calls.ts';
import { Terminal } from './terminal.ts';
import type { TerminalExit } from './terminal.ts';
import { commandLine } from './tool-meaning.ts';
import { placeInWorkspace } from './workspace-files.ts';

/** That are not released. */
const MAX_TERMINALS = 32;
const DEFAULT_OUTPUT_BYTES = 1024 * 1024;
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Ours: they mark process trees. */
const OUR_VARIABLES = /^WAKECHART_/;
/** Where a command without words is a line for a shell. */
const SHELL = '/bin/sh';

export interface TerminalsOptions {
  readonly served: ServedCalls;
  readonly ledger: ToolLedger;
  readonly processTree: ProcessTree;
  readonly taskId: string;
  readonly sessionId: string;
  /** Absolute. */
  readonly workspaceDir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly killGraceMs: number;
  readonly signal: AbortSignal;
  readonly onOutput: () => void;
  readonly onNews: (message: string) => void;
}

interface Prepared {
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
}

export class Terminals {
  readonly #options: TerminalsOptions;
  readonly #terminals = new Map<string, Terminal>();
  readonly #starting = new Set<Promise<unknown>>();
  #count = 0;
  #isOver = false;

  constructor(options: TerminalsOptions) {
    this.#options = options;
  }

  async create(request: CreateTerminalRequest): Promise<CreateTerminalResponse> {
    const { command, args = [], env = [], cwd } = request;
    const input = {
      command,
      ...(args.length === 0 ? {} : { args }),
      ...(env.length === 0 ? {} : { env: Object.fromEntries(env.map(({ name, value }) => [name, value])) }),
      ...(typeof cwd === 'string' ? { cwd } : {}),
    };
    const { callId, prepared } = await this.#options.served.begin({
      name: 'terminal/create',
      input,
      prepare: () => this.#prepare(request),
    });
    try {
      const terminal = await this.#started(request, prepared);
      this.#count += 1;
      const terminalId = `terminal-${this.#count}`;
      this.#terminals.set(terminalId, terminal);
      void terminal.exited.then(() =>
        this.#options.ledger.ended({
          callId,
          outcome: terminal.wasEnded ? 'cancelled' : 'completed',
          output: terminal.shown(),
        }),
      );
      return { terminalId };
    } catch (error) {
      this.#options.ledger.ended({ callId, outcome: this.#isOver ? 'cancelled' : 'failed', output: messageOf(error) });
      throw error;
    }
  }

  output(terminalId: string): TerminalOutputResponse {
    const { output, truncated, exit } = this.#terminal(terminalId).read();
    return { output, truncated, ...(exit === undefined ? {} : { exitStatus: { ...exit } }) };
  }

  async waitForExit(terminalId: string): Promise<TerminalExit> {
    return this.#terminal(terminalId).exited;
  }

  async kill(terminalId: string): Promise<object> {
    await this.#terminal(terminalId).end();
    return {};
  }

  async release(terminalId: string): Promise<object> {
    const terminal = this.#terminal(terminalId);
    await terminal.end();
    this.#terminals.delete(terminalId);
    return {};
  }

  /** Ends all of them and starts no more. Never rejects: what could not be ended is told. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.allSettled(this.#starting);
    const endings = [...this.#terminals.values()].map(async (terminal) => {
      await terminal.end();
      await terminal.exited;
    });
    for (const ending of await Promise.allSettled(endings)) {
      if (ending.status === 'rejected')
        this.#options.onNews(`a command of its terminals could not be ended: ${messageOf(ending.reason)}`);
    }
  }

  async #prepare({ command, args = [], env = [], cwd }: CreateTerminalRequest) {
    const { workspaceDir } = this.#options;
    if (command.trim() === '' || [command, ...args].some((word) => word.includes('\0')))
      throw new RequestRefused('invalid', 'expected a command');
    const odd = env.find(({ name, value }) => !VARIABLE.test(name) || OUR_VARIABLES.test(name) || value.includes('\0'));
    if (odd !== undefined)
      throw new RequestRefused(
        'invalid',
        `expected names and values of variables, received ${JSON.stringify(odd.name.slice(0, 200))}`,
      );
    const place = await placeInWorkspace(cwd ?? workspaceDir, workspaceDir);
    const prepared: Prepared = {
      cwd: place.real,
      variables: Object.fromEntries(env.map(({ name, value }) => [name, value])),
    };
    return {
      prepared,
      means: { kind: 'command' as const, command: judgedLine({ command, args, env }), cwd: place.named },
    };
  }

  /** Counted from here on: many may be allowed at once. */
  async #started(request: CreateTerminalRequest, prepared: Prepared): Promise<Terminal> {
    if (this.#terminals.size + this.#starting.size >= MAX_TERMINALS)
      throw new RequestRefused(
        'failed',
        `There are ${MAX_TERMINALS} terminals that are not released: release one first.`,
      );
    const starting = this.#start(
      request,
      prepared,
      Math.min(request.outputByteLimit ?? DEFAULT_OUTPUT_BYTES, MAX_OUTPUT_BYTES),
    );
    this.#starting.add(starting);
    return starting.finally(() => this.#starting.delete(starting));
  }

  async #start(
    { command, args = [], cwd }: CreateTerminalRequest,
    prepared: Prepared,
    outputLimitBytes: number,
  ): Promise<Terminal> {
    const { workspaceDir, processTree, taskId, sessionId, environment, killGraceMs, signal, onOutput } = this.#options;
    const { real } = await placeInWorkspace(cwd ?? workspaceDir, workspaceDir);
    if (real !== prepared.cwd)
      throw new RequestRefused('failed', `${String(cwd)} leads somewhere else now than when it was allowed`);
    if (!(await stat(real).catch(() => undefined))?.isDirectory())
      throw new RequestRefused('invalid', `${String(cwd)} is no folder`);
    if (this.#isOver) throw new RequestRefused('failed', 'The turn is over.');
    const [program, words] = args.length === 0 ? [SHELL, ['-c', command]] : [command, args];
    const running = await startProgram({
      command: {
        program,
        args: words,
        cwd: real,
        environment: { ...environment, ...prepared.variables },
      },
      hasInput: false,
      processTree,
      taskId,
      sessionId,
      signal,
    });
    return new Terminal({ program: running, outputLimitBytes, killGraceMs, onOutput });
  }

  #terminal(terminalId: string): Terminal {
    const terminal = this.#terminals.get(terminalId);
    if (terminal === undefined)
      throw new RequestRefused('missing', `There is no terminal ${JSON.stringify(terminalId.slice(0, 200))}.`);
    return terminal;
  }
}

/** What runs, as a shell would be told it: variables change what a command does, so they are judged with it. */
function judgedLine({
  command,
  args,
  env,
}: {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
}): string {
  const variables = env.map(({ name, value }) => `${name}=${commandLine([value])}`);
  if (args.length > 0) return [...variables, commandLine([command, ...args])].join(' ');
  return variables.length === 0 ? command : `export ${variables.join(' ')}; ${command}`;
}

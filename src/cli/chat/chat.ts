/** `wakechart chat`: a conversation with an agent at the terminal. */
import { writeSync } from 'node:fs';
import type { NodeRuntime } from '../../node/node-runtime.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { nextCommand, textAsTyped } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS, failureText } from '../failure.ts';
import { isolationsOf, textOfIsolation } from '../isolation.ts';
import { withRuntime } from '../open/runtime.ts';
import { Keyboard } from '../terminal/keys.ts';
import { Screen } from '../terminal/screen.ts';
import { wrapped } from '../terminal/text-width.ts';
import { checkedEnvironmentName, usageError } from '../usage.ts';
import { runChatCommand } from './command-work.ts';
import type { CommandedChat } from './command-work.ts';
import { completions, typedCommand } from './commands.ts';
import { Conversation } from './conversation.ts';
import { InputHistory } from './input-history.ts';
import { FRAME_MS, liveLines } from './live-lines.ts';
import { checkHome, openingOf } from './opening.ts';
import type { ChatOptions, Opening } from './opening.ts';
import { Prompt } from './prompt.ts';

export async function runChat(context: CommandContext, options: ChatOptions): Promise<number> {
  checkTerminal(context);
  await checkHome(context);
  const environmentId = options.environment === undefined ? undefined : checkedEnvironmentName(options.environment);
  const chat = new Chat(context, environmentId);
  await withRuntime(chat.context, async (runtime) => chat.run(runtime, await openingOf(context, runtime, options)), {
    humans: 'reachable',
  });
  return EXIT_SUCCESS;
}

function checkTerminal(context: CommandContext): void {
  const reason = whyNoTerminal(context);
  if (reason === undefined) return;
  throw usageError(
    `expected a terminal to talk at, both to read from and to write to${reason}`,
    [
      'For programs, and where there is no terminal:',
      `  ${nextCommand(context, 'session', 'send', '--session', 'ID', '--message', 'TEXT')}`,
      `  ${nextCommand(context, 'wake', '--session', 'ID')}`,
    ].join('\n'),
  );
}

function whyNoTerminal({ json, out }: CommandContext): string | undefined {
  if (!process.stdin.isTTY || !out.isTerminal) return '';
  if (json) return ', and no --json: a chat is for people';
  return out.canRedraw ? undefined : ', which can move its cursor; TERM=dumb says that this one cannot';
}

export class Chat implements CommandedChat {
  /** Whatever is written there stands in the conversation. */
  readonly context: CommandContext;
  readonly #terminal: CommandContext['out'];
  readonly #screen: Screen;
  readonly #keyboard: Keyboard;
  readonly #environmentId: string | undefined;
  #prompt: Prompt | undefined;
  #runtime: NodeRuntime | undefined;
  #conversation: Conversation | undefined;
  #agentId = '';
  /** Lines are worked on one after the other. */
  #line = Promise.resolve();
  #leave: () => void = () => undefined;

  constructor(context: CommandContext, environmentId: string | undefined) {
    this.#terminal = context.out;
    this.#environmentId = environmentId;
    this.#screen = new Screen({
      out: context.out,
      environment: process.env,
      live: (size) =>
        this.#prompt === undefined
          ? { lines: [''], cursor: { row: 0, column: 0 } }
          : liveLines({ prompt: this.#prompt, conversation: this.#conversation, styles: context.out.styles, ...size }),
    });
    const { output } = this.#screen;
    this.context = { ...context, out: output, err: output };
    this.#keyboard = new Keyboard({
      stream: process.stdin,
      write: (codes) => void this.#terminal.push(codes),
      onTyping: (typing) => this.#prompt?.hear(typing),
    });
  }

  /** Until the person leaves, or a signal comes. */
  async run(runtime: NodeRuntime, opening: Opening): Promise<void> {
    const { signal } = this.context.interruption;
    const history = await InputHistory.open(this.context.home);
    const left = new Promise<void>((resolve) => (this.#leave = resolve));
    this.#runtime = runtime;
    this.#prompt = this.#promptOver(history);
    const release = this.#held(signal);
    try {
      if ('state' in opening) await this.goOnWith(opening.state);
      else await this.beginWith(opening.agentId);
      if (!signal.aborted) await left;
    } finally {
      await this.#conversation?.close();
      this.#prompt.close();
      release();
      await this.#tellHowToResume();
    }
  }

  get runtime(): NodeRuntime {
    if (this.#runtime === undefined) throw new Error('the chat has not begun');
    return this.#runtime;
  }

  get conversation(): Conversation | undefined {
    return this.#conversation;
  }

  get agentId(): string {
    return this.#agentId;
  }

  leave(): void {
    this.#leave();
  }

  /** A new session, which is made with the first message. */
  async beginWith(agentId: string): Promise<void> {
    const definition = await this.runtime.agents.get(agentId);
    await this.#conversation?.close();
    this.#conversation = undefined;
    this.#agentId = agentId;
    const isolation = await isolationsOf(this.context, this.runtime.agents).ofAgent({
      ...definition,
      ...(this.#environmentId === undefined ? {} : { environment: this.#environmentId }),
    });
    const { provider, model } = definition;
    await this.#heading([`${agentId}  ${provider}/${model}`, `works in ${textOfIsolation(isolation)}`]);
  }

  async goOnWith(state: SessionState): Promise<void> {
    await this.#conversation?.close();
    this.#agentId = state.agentId;
    const isolation = await isolationsOf(this.context, this.runtime.agents).ofSession(state);
    await this.#heading([`${state.agentId}  session ${state.sessionId}`, `works in ${textOfIsolation(isolation)}`]);
    await this.#open(state);
  }

  async #heading([first = '', ...others]: readonly string[]): Promise<void> {
    const { out } = this.context;
    const help = '/help says what can be typed; Ctrl-D leaves, and the session stays.';
    const lines = [...others, help]
      .flatMap((line) => wrapped(line, out.columns - 1))
      .map((line) => out.styles.dim(line));
    await out.line(['', ...wrapped(first, out.columns - 1).map((line) => out.styles.bold(line)), ...lines].join('\n'));
  }

  async #open(state: SessionState): Promise<void> {
    if (this.#prompt === undefined) return;
    this.#conversation = new Conversation({
      runtime: this.runtime,
      state,
      prompt: this.#prompt,
      out: this.context.out,
      asTyped: (text) => textAsTyped(this.context, text),
      onChanged: () => this.#screen.changed(),
      onTrouble: (error) => this.#tellTrouble(error),
    });
    await this.#conversation.open();
  }

  async #hear(line: string): Promise<void> {
    try {
      const command = typedCommand(line);
      if (command !== undefined) {
        await this.context.out.line(`\n${this.context.out.styles.dim(line)}`);
        return await runChatCommand(this, command);
      }
    } catch (error) {
      return this.#tellTrouble(error);
    }
    try {
      if (this.#conversation === undefined) await this.#open(await this.#newSession());
      await this.#conversation?.send(line);
    } catch (error) {
      this.#prompt?.giveBack(line);
      this.#tellTrouble(error);
    }
  }

  #newSession(): Promise<SessionState> {
    const environment = this.#environmentId === undefined ? {} : { environmentId: this.#environmentId };
    return this.runtime.sessions.create({ agentId: this.#agentId, ...environment });
  }

  #promptOver(history: InputHistory): Prompt {
    return new Prompt({
      styles: this.#terminal.styles,
      history,
      complete: completions,
      onChanged: () => this.#screen.changed(),
      onLeave: () => this.#leave(),
      onTerminal: (wish) => (wish === 'wipe' ? this.#screen.wipe() : this.#suspend()),
      onInterrupt: () => this.#conversation?.interrupt() ?? false,
      onLine: (line) => {
        this.#line = this.#line.then(() => this.#hear(line));
      },
    });
  }

  /** Holds the terminal until the function is called that this returns. */
  #held(signal: AbortSignal): () => void {
    const leave = (): void => this.#leave();
    const resized = (): void => this.#screen.changed();
    // However the process ends, but for SIGKILL, the terminal must be as it was.
    const restore = (): void => void writeSync(process.stdout.fd, RESTORED);
    const ticking = setInterval(() => {
      if (this.#conversation?.work !== undefined) this.#screen.changed();
    }, FRAME_MS);
    signal.addEventListener('abort', leave, { once: true });
    process.stdout.on('resize', resized);
    process.once('exit', restore);
    this.#keyboard.open();
    this.#screen.open();
    return () => {
      clearInterval(ticking);
      signal.removeEventListener('abort', leave);
      process.stdout.off('resize', resized);
      process.off('exit', restore);
      this.#keyboard.close();
      this.#screen.close();
    };
  }

  /** As Ctrl-Z of any program: what runs stands still, until the shell brings it back. */
  #suspend(): void {
    this.#keyboard.close();
    this.#screen.close();
    process.once('SIGCONT', () => {
      this.#keyboard.open();
      this.#screen.open();
    });
    process.kill(process.pid, 'SIGTSTP');
  }

  #tellTrouble(error: unknown): void {
    const { styles, columns } = this.context.out;
    void this.context.out.push(failureText(error, { styles, wrapsAt: columns - 1 }));
  }

  async #tellHowToResume(): Promise<void> {
    const conversation = this.#conversation;
    if (conversation === undefined) return;
    const { out } = this.context;
    const { sessionId, work } = conversation;
    const state =
      work === undefined ? 'The session sleeps, on disk.' : 'What runs is stopped; all that was done is on disk.';
    await out.line(`\n${state} To go on: ${nextCommand(this.context, 'chat', '--resume', sessionId)}`);
  }
}

/** No marks around what is pasted, and a cursor that is seen. */
const RESTORED = '\u001B[?2004l\u001B[?25h';

/**
 * The line at which a person types: messages and commands, and the answers to what they are asked. A question takes it
 * only while no message is begun and no key was pressed for a moment, or when Esc asks for it: what was meant for the
 * one is never taken for the other. Its choices take a key and Enter, and whatever is typed else begins a message.
 */
import type { Choice } from '../permission/asking.ts';
import type { Key, Typing } from '../terminal/keys.ts';
import { EMPTY, draftOf, drawnDraft, edited, inserted, keyName, movedByLine } from '../terminal/line-editor.ts';
import type { Draft } from '../terminal/line-editor.ts';
import type { LiveLines } from '../terminal/screen.ts';
import type { Styles } from '../terminal/styles.ts';
import { wrapped } from '../terminal/text-width.ts';
import type { InputHistory } from './input-history.ts';

export interface PromptOptions {
  readonly styles: Styles;
  readonly history: InputHistory;
  /** A message or a command, as it was typed. */
  readonly onLine: (line: string) => void;
  /** Ctrl-C. @returns whether there was something to interrupt */
  readonly onInterrupt: () => boolean;
  readonly onLeave: () => void;
  /** Ctrl-Z: to the shell and back. Ctrl-L: an empty screen. */
  readonly onTerminal: (wish: 'suspend' | 'wipe') => void;
  /** What a line that begins so can go on with. */
  readonly complete: (line: string) => readonly string[];
  readonly onChanged: () => void;
  /** How long a question has to be on the screen, with no key pressed, before it is put. */
  readonly quietMs?: number | undefined;
}

export interface AskedNow {
  /** Aborts when no answer is needed any more. */
  readonly signal: AbortSignal;
  /** It goes on with a question that was answered just now: no key is meant for anything else. */
  readonly goesOn?: boolean;
}

/** Undefined: put off, or not asked any more. */
type Settle = (answer: string | undefined) => void;

interface Question {
  /** Absent: any text is an answer. */
  readonly choices?: readonly Choice[];
  /** Of a question that is answered in words. */
  readonly label?: string;
  readonly settle: Settle;
  draft: Draft;
  isPut: boolean;
}

const QUIET_MS = 600;
const MARK = '› ';
const NEXT_MARK = '  ';
const LEAVES = 'Ctrl-C again leaves';
const WAITS = 'Esc: answer what is asked';
const NEEDS_ENTER = 'Enter answers';

export class Prompt {
  readonly #options: PromptOptions;
  #draft = EMPTY;
  #question: Question | undefined;
  #hint = '';
  #isLeaving = false;
  #quietSinceMs = -Infinity;
  /** More keys came at once than a person presses: text that was pasted where the terminal does not say so. */
  #isBurst = false;
  #quiet: NodeJS.Timeout | undefined;

  constructor(options: PromptOptions) {
    this.#options = options;
  }

  /** One of these and Enter; undefined for Esc. */
  key(choices: readonly Choice[], asked: AskedNow): Promise<string | undefined> {
    return this.#ask({ choices }, asked);
  }

  /** A line, which may be empty; undefined for Esc. */
  line(label: string, asked: AskedNow): Promise<string | undefined> {
    return this.#ask({ label }, asked);
  }

  hear(typing: Typing): void {
    if (typing.type === 'end') return this.#options.onLeave();
    this.#quietSinceMs = performance.now();
    this.#hint = '';
    if (typing.type === 'paste') this.#paste(typing.text);
    else this.#press(typing.key);
    this.#isBurst = true;
    setImmediate(() => (this.#isBurst = false));
    if (this.#question?.isPut === false) this.#putWhenQuiet();
    this.#options.onChanged();
  }

  /** A message that could not be sent stands there again, unless another one was begun. */
  giveBack(text: string): void {
    if (this.#draft.text === '') this.#draft = draftOf(text);
    this.#options.onChanged();
  }

  /** At the end of the screen, in lines of less than `columns` places. */
  lines(columns: number, maxRows: number): LiveLines & { readonly hint: string } {
    const question = this.#put;
    const { styles } = this.#options;
    if (question?.choices !== undefined) return this.#choiceLines(question.choices, question.draft.text, columns);
    const label =
      question?.label === undefined ? [] : wrapped(question.label, columns - 1).map((each) => styles.cyan(each));
    const { rows, cursor } = drawnDraft(this.#shown, columns - 1 - MARK.length);
    const first = Math.max(0, Math.min(cursor.row - Math.floor(maxRows / 2), rows.length - maxRows));
    const shown = rows.slice(first, first + maxRows);
    return {
      lines: [...label, ...shown.map((row, index) => `${index + first === 0 ? styles.cyan(MARK) : NEXT_MARK}${row}`)],
      cursor: { row: cursor.row - first + label.length, column: cursor.column + MARK.length },
      hint: this.#hint === '' && this.#question?.isPut === false && this.#draft.text !== '' ? WAITS : this.#hint,
    };
  }

  #choiceLines(choices: readonly Choice[], typed: string, columns: number): ReturnType<Prompt['lines']> {
    const { styles } = this.#options;
    const text = choices.map(({ key, label }) => `[${key}] ${label}`).join('  ');
    const lines = wrapped(text, columns - 2 - 2 * MARK.length);
    const last = lines.length - 1;
    const end = ` ${MARK}${typed}`;
    return {
      lines: lines.map((line, index) => `${styles.cyan(line)}${index === last ? end.trimEnd() : ''}`),
      cursor: { row: last, column: (lines[last] ?? '').length + end.length },
      hint: this.#hint === '' && typed !== '' ? NEEDS_ENTER : this.#hint,
    };
  }

  close(): void {
    clearTimeout(this.#quiet);
    this.#question?.settle(undefined);
  }

  /** The question that the keys answer. */
  get #put(): Question | undefined {
    return this.#question?.isPut === true ? this.#question : undefined;
  }

  get #shown(): Draft {
    return this.#put?.draft ?? this.#draft;
  }

  #ask(
    question: Pick<Question, 'choices' | 'label'>,
    { signal, goesOn = false }: AskedNow,
  ): Promise<string | undefined> {
    if (signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const settle: Settle = (answer) => {
        signal.removeEventListener('abort', withdraw);
        clearTimeout(this.#quiet);
        this.#question = undefined;
        this.#options.onChanged();
        resolve(answer);
      };
      const withdraw = (): void => settle(undefined);
      signal.addEventListener('abort', withdraw, { once: true });
      this.#question = { ...question, settle, draft: EMPTY, isPut: goesOn };
      if (goesOn) this.#options.onChanged();
      else {
        // A key that is pressed as it appears was meant for something else.
        this.#quietSinceMs = performance.now();
        this.#putWhenQuiet();
      }
    });
  }

  /** The next question comes as late as the first: a key may have been pressed twice. */
  #putWhenQuiet(): void {
    const { quietMs = QUIET_MS, onChanged } = this.#options;
    clearTimeout(this.#quiet);
    if (this.#draft.text !== '') return;
    const left = this.#quietSinceMs + quietMs - performance.now();
    if (left > 0) {
      this.#quiet = setTimeout(() => this.#putWhenQuiet(), left);
      return;
    }
    if (this.#question !== undefined) this.#question.isPut = true;
    onChanged();
  }

  /** What is pasted is no choice. */
  #paste(text: string): void {
    if (this.#put?.choices === undefined) this.#changeDraft(inserted(this.#shown, text));
    else this.#beginMessage(this.#put, text);
  }

  #press(key: Key): void {
    const wasLeaving = this.#isLeaving;
    this.#isLeaving = false;
    const name = keyName(key);
    if (name === 'ctrl+c') return this.#interrupt(wasLeaving);
    if (name === 'ctrl+d' && this.#shown.text === '') return this.#options.onLeave();
    if (name === 'ctrl+z' || name === 'ctrl+l') return this.#options.onTerminal(name === 'ctrl+z' ? 'suspend' : 'wipe');
    const question = this.#put;
    if (key.name === 'escape') return this.#escape();
    if (question?.choices !== undefined) return this.#choose(question, question.choices, key);
    if (name === 'return') return this.#enter(question);
    if (question === undefined && name === 'tab') return this.#complete();
    const draft = edited(this.#shown, key) ?? this.#recalled(name, question);
    if (draft !== undefined) this.#changeDraft(draft);
  }

  #escape(): void {
    if (this.#put !== undefined) this.#put.settle(undefined);
    else if (this.#question !== undefined) this.#question.isPut = true;
  }

  #choose(question: Question, choices: readonly Choice[], key: Key): void {
    const { text } = question.draft;
    const chosenBy = (typed: string): string | undefined =>
      choices.find((choice) => choice.key === typed.toLowerCase())?.key;
    if (keyName(key) === 'return') {
      const chosen = chosenBy(text);
      if (chosen !== undefined && !this.#isBurst) question.settle(chosen);
      return;
    }
    const draft = edited(question.draft, key);
    if (draft === undefined) return;
    if (draft.text === '' || chosenBy(draft.text) !== undefined) question.draft = draft;
    else this.#beginMessage(question, draft.text);
  }

  /** What was typed goes on as a message, and the question waits. */
  #beginMessage(question: Question, added: string): void {
    question.isPut = false;
    question.draft = EMPTY;
    this.#draft = inserted(this.#draft, added);
  }

  #changeDraft(draft: Draft): void {
    const question = this.#put;
    if (question === undefined) this.#draft = draft;
    else question.draft = draft;
  }

  #interrupt(wasLeaving: boolean): void {
    if (wasLeaving) return this.#options.onLeave();
    const isInterrupted = this.#options.onInterrupt();
    if (!isInterrupted && this.#shown.text !== '') return this.#changeDraft(EMPTY);
    this.#isLeaving = true;
    this.#hint = LEAVES;
  }

  #enter(question: Question | undefined): void {
    const { text, cursor } = this.#shown;
    if (text.endsWith('\\') && cursor === text.length) return this.#changeDraft(draftOf(`${text.slice(0, -1)}\n`));
    if (question !== undefined) return question.settle(text);
    if (text.trim() === '') return;
    this.#draft = EMPTY;
    this.#options.history.add(text);
    this.#options.onLine(text);
  }

  #recalled(name: string, question: Question | undefined): Draft | undefined {
    if (name !== 'up' && name !== 'down' && name !== 'ctrl+p' && name !== 'ctrl+n') return undefined;
    const by = name === 'up' || name === 'ctrl+p' ? -1 : 1;
    const draft = movedByLine(this.#shown, by);
    if (draft !== undefined || question !== undefined) return draft;
    const text = this.#options.history.recalled(by, this.#draft.text);
    return text === undefined ? undefined : draftOf(text);
  }

  #complete(): void {
    const { text, cursor } = this.#draft;
    if (cursor !== text.length) return;
    const lines = this.#options.complete(text);
    const [only] = lines;
    if (only !== undefined && lines.length === 1) this.#draft = draftOf(only);
    else {
      this.#draft = draftOf(commonBeginning([...lines]) || text);
      this.#hint = lines.map((line) => line.trim()).join('  ');
    }
  }
}

function commonBeginning([first = '', ...others]: readonly string[]): string {
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

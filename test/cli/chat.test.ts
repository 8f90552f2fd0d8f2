/** The parts of a chat that need no terminal. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runChatCommand } from '../../src/cli/chat/command-work.ts';
import type { CommandedChat } from '../../src/cli/chat/command-work.ts';
import { completions, typedCommand } from '../../src/cli/chat/commands.ts';
import { InputHistory } from '../../src/cli/chat/input-history.ts';
import { Markdown } from '../../src/cli/chat/markdown.ts';
import { Prompt } from '../../src/cli/chat/prompt.ts';
import { Speech } from '../../src/cli/chat/speech.ts';
import { failureText } from '../../src/cli/failure.ts';
import { asTyped } from '../../src/cli/invocation.ts';
import { EMPTY, draftOf, drawnDraft, edited, inserted, movedByLine } from '../../src/cli/terminal/line-editor.ts';
import type { Draft } from '../../src/cli/terminal/line-editor.ts';
import type { Key } from '../../src/cli/terminal/keys.ts';
import { stylesFor } from '../../src/cli/terminal/styles.ts';
import { RuntimeError } from '../../src/machines/errors.ts';

const key = (name: string, more: Partial<Key> = {}): Key => ({ name, ctrl: false, meta: false, text: '', ...more });
const typed = (text: string): Key => key(text, { text });
const plain = stylesFor({ isTerminal: false, environment: {} });
const colored = stylesFor({ isTerminal: true, environment: {} });

describe('a draft', () => {
  it.each([
    ['a word before the cursor', draftOf('one two'), key('w', { ctrl: true }), 'one |'],
    ['to the end of the line', { text: 'one\ntwo', cursor: 1 }, key('k', { ctrl: true }), 'o|\ntwo'],
    ['a whole character, of however many parts', draftOf('a👩‍👩‍👧'), key('backspace'), 'a|'],
    ['a letter with its marks', draftOf('e\u0301'), key('backspace'), '|'],
    ['a word backwards', draftOf('one two'), key('b', { meta: true }), 'one |two'],
    ['to the beginning of the line', draftOf('one\ntwo'), key('a', { ctrl: true }), 'one\n|two'],
    ['into a new line', draftOf('one'), key('return', { meta: true }), 'one\n|'],
  ])('is edited by keys: %s', (_what, before, pressed, after) => {
    const { text, cursor } = edited(before, pressed) ?? EMPTY;
    expect(`${text.slice(0, cursor)}|${text.slice(cursor)}`).toBe(after);
  });

  it('takes nothing that moves a cursor or colors a screen', () => {
    expect(inserted(EMPTY, 'a\u001B[2Jb\u0007\tc\nd').text).toBe('a[2Jb\tc\nd');
  });

  it('moves up and down in its lines, and not beyond them', () => {
    const draft: Draft = { text: 'long line\nab\nthird line', cursor: 18 };
    const up = movedByLine(draft, -1);
    expect(up?.cursor).toBe(12);
    expect(movedByLine(movedByLine(up ?? EMPTY, -1) ?? EMPTY, -1)).toBeUndefined();
    expect(movedByLine(draft, 1)).toBeUndefined();
  });

  it('is drawn in rows that fit, with wide characters whole and the cursor where the next one goes', () => {
    expect(drawnDraft(draftOf('ab日本語'), 5)).toEqual({ rows: ['ab日', '本語'], cursor: { row: 1, column: 4 } });
    expect(drawnDraft(draftOf('abcde'), 5)).toEqual({ rows: ['abcde', ''], cursor: { row: 1, column: 0 } });
    expect(drawnDraft({ text: 'one\ntwo', cursor: 3 }, 10)).toEqual({
      rows: ['one', 'two'],
      cursor: { row: 0, column: 3 },
    });
  });
});

interface Heard {
  readonly prompt: Prompt;
  readonly lines: string[];
  readonly left: () => boolean;
}

function promptOf({ isWorking = false, quietMs = 0 } = {}): Heard {
  const lines: string[] = [];
  let hasLeft = false;
  const prompt = new Prompt({
    styles: plain,
    history: new InputHistory(['before']),
    onLine: (line) => lines.push(line),
    onInterrupt: () => isWorking,
    onLeave: () => (hasLeft = true),
    onTerminal: () => undefined,
    complete: completions,
    onChanged: () => undefined,
    quietMs,
  });
  return { prompt, lines, left: () => hasLeft };
}

const type = (prompt: Prompt, ...keys: readonly (Key | string)[]): void => {
  for (const each of keys)
    if (typeof each !== 'string') prompt.hear({ type: 'key', key: each });
    else for (const letter of each) prompt.hear({ type: 'key', key: typed(letter) });
};
const ctrl = (name: string): Key => key(name, { ctrl: true });
const signal = new AbortController().signal;
const shown = (prompt: Prompt): string => prompt.lines(80, 10).lines.join('\n');

describe('a prompt', () => {
  it('gives a line when Enter is pressed, and goes on after a backslash', () => {
    const { prompt, lines } = promptOf();
    type(prompt, 'one\\', key('return'), 'two', key('return'), key('return'));
    expect(lines).toEqual(['one\ntwo']);
  });

  it('brings back what was typed before, and then what was begun', () => {
    const { prompt } = promptOf();
    type(prompt, 'begun', key('up'));
    expect(shown(prompt)).toBe('› before');
    type(prompt, key('up'), key('down'));
    expect(shown(prompt)).toBe('› begun');
  });

  it('is left by Ctrl-C only when it is pressed twice in a row', () => {
    const { prompt, left } = promptOf({ isWorking: true });
    type(prompt, ctrl('c'));
    expect(prompt.lines(80, 10).hint).toBe('Ctrl-C again leaves');
    type(prompt, 'x', ctrl('c'));
    expect(left()).toBe(false);
    type(prompt, ctrl('c'));
    expect(left()).toBe(true);
  });

  it('forgets a line that was begun at the first Ctrl-C when nothing is at work', () => {
    const { prompt, left } = promptOf();
    type(prompt, 'begun', ctrl('c'), ctrl('c'));
    expect(shown(prompt)).toBe('› ');
    expect(left()).toBe(false);
  });

  const yes = [
    { key: 'y', label: 'yes' },
    { key: 'a', label: 'always' },
  ];
  /** Keys of one turn came at once, as a paste does. */
  const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('takes a choice with Enter, and with nothing after it', async () => {
    const { prompt, lines } = promptOf();
    const answer = prompt.key(yes, { signal });
    expect(shown(prompt)).toBe('[y] yes  [a] always ›');
    type(prompt, key('return'), 'a', key('backspace'), 'Y');
    expect(prompt.lines(80, 10)).toMatchObject({ lines: ['[y] yes  [a] always › Y'], hint: 'Enter answers' });
    await turn();
    type(prompt, key('return'));
    expect(await answer).toBe('y');
    expect(lines).toEqual([]);
  });

  it.each(['yes please', '/why', 'what is it', 'any'])('allows nothing by a message: %s', async (message) => {
    const { prompt, lines } = promptOf();
    const answer = prompt.key(yes, { signal });
    for (const letter of message) {
      type(prompt, letter);
      await turn();
    }
    expect(shown(prompt)).toBe(`› ${message}`);
    expect(prompt.lines(80, 10).hint).toBe('Esc: answer what is asked');
    type(prompt, key('return'));
    expect(lines).toEqual([message]);
    expect(shown(prompt)).toBe('[y] yes  [a] always ›');
    type(prompt, key('escape'));
    expect(await answer).toBeUndefined();
  });

  it('leaves the line to a message that is begun, until Esc asks for the question', async () => {
    const { prompt } = promptOf();
    type(prompt, 'please do not ');
    const answer = prompt.key(yes, { signal });
    await turn();
    type(prompt, 'write an', 'y');
    expect(shown(prompt)).toBe('› please do not write any');
    type(prompt, key('escape'), 'y');
    await turn();
    type(prompt, key('return'));
    expect(await answer).toBe('y');
    expect(shown(prompt)).toBe('› please do not write any');
  });

  it('takes nothing that is pasted for a choice, whether the terminal says so or not', () => {
    const { prompt, lines } = promptOf();
    void prompt.key(yes, { signal });
    prompt.hear({ type: 'paste', text: 'y' });
    expect(shown(prompt)).toBe('› y');
    type(prompt, key('backspace'), 'a', key('return'), 'b', key('return'));
    expect(lines).toEqual(['ab']);
  });

  it('puts no question at the moment in which it comes', () => {
    const { prompt } = promptOf({ quietMs: 60_000 });
    void prompt.key(yes, { signal });
    type(prompt, 'y');
    expect(shown(prompt)).toBe('› y');
    prompt.close();
  });

  it('keeps what was begun while a question is answered, and takes a question back', async () => {
    const { prompt } = promptOf();
    type(prompt, 'begun');
    const withdrawn = new AbortController();
    const answer = prompt.line('Why?', { signal: withdrawn.signal, goesOn: true });
    type(prompt, 'because');
    expect(shown(prompt)).toBe('Why?\n› because');
    withdrawn.abort();
    expect(await answer).toBeUndefined();
    expect(shown(prompt)).toBe('› begun');
  });

  it('gives a message back that could not be sent, unless another one was begun', () => {
    const { prompt } = promptOf();
    prompt.giveBack('Hello.');
    prompt.giveBack('Another.');
    expect(shown(prompt)).toBe('› Hello.');
  });

  it('completes commands', () => {
    const { prompt } = promptOf();
    type(prompt, '/st', key('tab'));
    expect(shown(prompt)).toBe('› /status');
  });
});

describe('what the agent says', () => {
  it('is printed line by line, and its last line when it is in the log', () => {
    const speech = new Speech();
    expect(speech.hear({ kind: 'text', text: 'One.\nTw' })).toMatchObject({ whole: 'One.\n' });
    expect(speech.current?.text).toBe('Tw');
    speech.hear({ kind: 'text', text: 'o.' });
    speech.over(false);
    expect(speech.told('One.\nTwo.')).toEqual({ rest: 'Two.', isOther: false });
    expect(speech.current).toBeUndefined();
  });

  it('is told whole when the log holds something else, or words were lost', () => {
    const speech = new Speech();
    speech.hear({ kind: 'text', text: 'One.\nTwo' });
    speech.over(false);
    expect(speech.told('Another.')).toEqual({ rest: 'Another.', isOther: true });
    speech.hear({ kind: 'text', text: 'One.\nTwo.\nThree' });
    speech.tear();
    expect(speech.hear({ kind: 'text', text: ' lines later.\n' }).whole).toBe('');
    expect(speech.told('One.\nTwo.\nThree, and lines later.')).toEqual({
      rest: 'Three, and lines later.',
      isOther: false,
    });
  });

  it('begins afresh after an attempt that failed', () => {
    const speech = new Speech();
    speech.hear({ kind: 'text', text: 'One.\nTw' });
    speech.takeBack();
    expect(speech.hear({ kind: 'text', text: 'Anew.\nAnd' })).toEqual({ whole: 'Anew.\n', isAfresh: true });
    expect(speech.told('Anew.\nAnd on.')).toEqual({ rest: 'And on.', isOther: false });
  });

  it('is not what it says to the runtime', () => {
    const speech = new Speech();
    const { whole } = speech.hear({ kind: 'text', text: 'Done.\n\n```wakechart-directive\n{}\n```\nx' });
    expect(whole).toBe('');
    expect(speech.current?.text.trim()).toBe('Done.');
  });

  it('that was told before its words came is not said twice', () => {
    const speech = new Speech();
    expect(speech.told('One.')).toEqual({ rest: 'One.', isOther: false });
    speech.hear({ kind: 'text', text: 'One.' });
    speech.over(true);
    expect(speech.current).toBeUndefined();
  });
});

describe('Markdown at a terminal', () => {
  it('keeps its marks where no style can be seen', () => {
    expect(new Markdown().lines('a **bold** `code`', 40, plain)).toEqual(['a **bold** `code`']);
    expect(new Markdown().lines('a **bold**', 40, colored)).toEqual(['a \u001B[1mbold\u001B[22m']);
  });

  it('sets lists in, and breaks no code between its words', () => {
    expect(new Markdown().lines('- one two three\n```\na b c d e f\n```', 10, plain)).toEqual([
      '- one two',
      '  three',
      '```',
      'a b c d e ',
      'f',
      '```',
    ]);
  });
});

describe('a command of a chat', () => {
  it('is told from a message, with what follows it', () => {
    expect(typedCommand('/expand 3')).toEqual({ name: 'expand', word: '3' });
    expect(typedCommand(' /etc/hosts is wrong')).toBeUndefined();
    expect(() => typedCommand('/stauts')).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('Did you mean /status?') as string }),
    );
  });
});

describe('what has failed in a chat', () => {
  it('is told between words, and commands that can be copied stay whole', () => {
    const command = '  wakechart agent create one --description "a long one"';
    const error = new RuntimeError('X', 'expected something else than this', {
      category: 'validation',
      hint: `Make one that works with a model:\n${command}`,
    });
    const lines = failureText(error, { styles: plain, wrapsAt: 30 }).split('\n');
    expect(lines.slice(0, 4)).toEqual([
      'error: expected something else',
      'than this [X]',
      '  hint: Make one that works',
      '        with a model:',
    ]);
    expect(lines[4]).toContain(`  ${asTyped(command.trim())}`);
  });

  it.each(['zz', 'abc', 'not-an-id'])('is the id of no session: %s', async (word) => {
    const chat = { runtime: { sessions: {} } } as unknown as CommandedChat;
    await expect(runChatCommand(chat, { name: 'resume', word })).rejects.toMatchObject({
      message: expect.stringContaining('at least 4 characters') as string,
      hint: '/sessions lists them.',
    });
  });
});

describe('the history of a chat', () => {
  it('stays short, and is for its owner alone', async () => {
    const home = await mkdtemp(join(tmpdir(), 'history-'));
    try {
      const first = await InputHistory.open(home);
      for (let number = 0; number < 1_100; number += 1) first.add(`line ${number}`);
      const path = join(home, 'chat-history.jsonl');
      const linesOf = async (): Promise<string[]> => (await readFile(path, 'utf8')).trim().split('\n');
      await expect.poll(linesOf).toHaveLength(1_100);
      const second = await InputHistory.open(home);
      expect(await linesOf()).toHaveLength(500);
      expect(second.recalled(-1, '')).toBe('line 1099');
    } finally {
      await rm(home, { recursive: true });
    }
  });
});

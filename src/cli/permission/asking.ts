/** What a session waits for, put to a person: with the same words and keys wherever it is asked. */
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { exactLine } from '../../machines/exact-text.ts';
import type { SessionIngress } from '../../machines/session/session-requests.ts';
import type { Output } from '../terminal/output.ts';
import { oneLine, printable } from '../terminal/text.ts';
import { wrapped } from '../terminal/text-width.ts';
import { permissionLines } from './text.ts';

export interface Choice {
  readonly key: string;
  readonly label: string;
}

/** Where a person is asked. Its `key` and `line` give undefined when nothing is to be answered now. */
export interface AskingPlace {
  readonly out: Output;
  /** Of what is to be allowed, the first and the last lines that are shown at first. Default: all of it. */
  readonly outerLines?: number;
  /** What is typed to answer nothing: where a key is asked for, and where a line is. */
  readonly later: { readonly key: 'Esc' | 'l'; readonly line: 'Esc' | 'empty' };
  tell(lines: readonly string[]): Promise<void> | void;
  /** The key of one of these; any other text is no answer, and they are put again. */
  key(choices: readonly Choice[], goesOn: boolean): Promise<string | undefined>;
  line(label: string, goesOn: boolean): Promise<string | undefined>;
}

type Permission = Extract<AskedRequest, { readonly kind: 'permission' }>;
type Question = Extract<AskedRequest, { readonly kind: 'answer' }>;

const INDENT = '    ';
const MAX_WIDTH = 100;
const MAX_NOTE_CHARACTERS = 2_000;

/** @returns undefined: it is put off, or not asked any more */
export async function askedAnswer(
  request: Permission | Question,
  place: AskingPlace,
): Promise<SessionIngress | undefined> {
  return request.kind === 'permission' ? permissionAnswer(request, place) : questionAnswer(request, place);
}

/**
 * One that another person has answered meanwhile, or whose time is over, lets the session go on all the same.
 * @returns why it came too late
 */
export async function sendAnswer(
  sessions: Pick<Sessions, 'send'>,
  { sessionId }: AskedRequest,
  answer: SessionIngress,
): Promise<string | undefined> {
  try {
    await sessions.send(sessionId, answer);
    return undefined;
  } catch (error) {
    if (!RuntimeError.is(error) || error.category !== 'conflict') throw error;
    return printable(error.message);
  }
}

async function permissionAnswer(request: Permission, place: AskingPlace): Promise<SessionIngress | undefined> {
  const { requestId, data } = request;
  const { later, outerLines = Infinity } = place;
  const choices = choicesFor(place, (data.rules ?? []).length > 0);
  const confirmation = { type: 'user.tool_confirmation', requestId, toolName: data.toolName } as const;
  await place.tell(requestLines(request, place, outerLines));
  for (let goesOn = false; ; goesOn = true) {
    const key = await place.key(choices, goesOn);
    switch (key) {
      case undefined:
      case later.key:
        return undefined;
      case 'y':
        return { ...confirmation, allowed: true };
      case 's':
      case 'a':
        return { ...confirmation, allowed: true, scope: key === 's' ? 'session' : 'always' };
      case 'n': {
        const note = (await place.line('Why, for the agent? It may stay empty.', true))?.trim() ?? '';
        return {
          ...confirmation,
          allowed: false,
          ...(note === '' ? {} : { note: beginningOf(note, MAX_NOTE_CHARACTERS) }),
        };
      }
      case 'f':
        await place.tell(requestLines(request, place, Infinity));
        break;
      case '?':
        await place.tell(meaningLines(request, place, choices));
        break;
      default:
        break;
    }
  }
}

async function questionAnswer(request: Question, place: AskingPlace): Promise<SessionIngress | undefined> {
  const { requestId, data } = request;
  const { choices = [] } = data;
  const { later } = place;
  await place.tell(questionLines(request, place));
  const label = `Your answer${choices.length === 0 ? '' : ', or its number'} (${later.line}: later, ?: help)`;
  for (let goesOn = false; ; goesOn = true) {
    const said = (await place.line(label, goesOn))?.trim();
    if (said === undefined || (said === '' && later.line === 'empty')) return undefined;
    if (said === '?') await place.tell(questionMeanings(choices.length, place));
    else if (said !== '') {
      const chosen = /^\d+$/.test(said) ? choices[Number(said) - 1] : undefined;
      return { type: 'user.answer', requestId, response: chosen ?? said };
    }
  }
}

function choicesFor({ later, outerLines }: AskingPlace, hasRules: boolean): readonly Choice[] {
  return [
    { key: 'y', label: 'yes' },
    ...(hasRules
      ? [
          { key: 's', label: 'session' },
          { key: 'a', label: 'always' },
        ]
      : []),
    { key: 'n', label: 'no' },
    ...(later.key === 'l' ? [{ key: 'l', label: 'later' }] : []),
    ...(outerLines === undefined ? [] : [{ key: 'f', label: 'full' }]),
    { key: '?', label: 'help' },
  ];
}

/** What each answer means. */
function meaningLines(
  { agentId, data: { rules = [] } }: Permission,
  place: AskingPlace,
  choices: readonly Choice[],
): string[] {
  const covered = rules.map((rule) => exactLine(rule)).join(', ');
  const later = 'nothing is answered; the session waits, and keeps what it is asked on disk';
  const meanings: Readonly<Record<string, string>> = {
    y: 'it runs this once; the next time it is asked again',
    s: `it runs, and in this session from then on whatever these cover: ${covered}`,
    a: `the same in every session of ${printable(agentId)}, until \`permission revoke\` takes it back: ${covered}`,
    n: 'it does not run; you may say why, and the agent reads that',
    l: later,
    f: 'shows all of what it would run, however long it is',
    Esc: later,
  };
  const keys = [...new Set([...choices.map(({ key }) => key), place.later.key])].filter((key) => key in meanings);
  const keyWidth = Math.max(...keys.map((key) => key.length)) + 2;
  return keys.flatMap((key) =>
    wrapped(meanings[key] ?? '', Math.max(10, widthOf(place) - keyWidth)).map(
      (line, index) => `${INDENT}${(index === 0 ? key : '').padEnd(keyWidth)}${line}`,
    ),
  );
}

/** The same for a question in words. @param choices how many answers it offers */
function questionMeanings(choices: number, place: AskingPlace): string[] {
  return [
    ...(choices === 0 ? [] : [`1 to ${choices}: the choice with that number`]),
    'any text: your answer in your own words',
    `${place.later.line}: nothing is answered; the session waits, and keeps the question on disk`,
  ].flatMap((line) => wrapped(line, widthOf(place)).map((each) => `${INDENT}${each}`));
}

/** What is allowed is what was seen. */
function requestLines({ agentId, data }: Permission, place: AskingPlace, maxLines: number): string[] {
  const { styles } = place.out;
  const options = { styles, agentId, width: widthOf(place), maxLines, wayToAll: '[f] shows them' };
  return [
    ...headLines(`${oneLine(agentId)} asks to run ${exactLine(data.toolName)}:`, place),
    ...permissionLines(data, options).map((line) => `${INDENT}${line}`),
  ];
}

function questionLines({ agentId, data: { question, choices = [] } }: Question, place: AskingPlace): string[] {
  const width = widthOf(place);
  return [
    ...headLines(`${oneLine(agentId)} asks:`, place),
    ...wrapped(printable(question), width).map((line) => `${INDENT}${place.out.styles.bold(line)}`),
    ...choices.flatMap((choice, index) =>
      wrapped(`${index + 1}. ${oneLine(choice)}`, width).map((line) => `${INDENT}${line}`),
    ),
  ];
}

function headLines(text: string, place: AskingPlace): string[] {
  const { styles } = place.out;
  const lines = wrapped(text, widthOf(place));
  return ['', ...lines.map((line, index) => `${index === 0 ? styles.yellow('?') : ' '} ${styles.bold(line)}`)];
}

function widthOf({ out }: AskingPlace): number {
  return Math.max(20, Math.min(out.columns - 1, MAX_WIDTH) - INDENT.length);
}

/** One entry of a transcript. Its time leads to its record. */
import type { JSX } from 'preact';
import { visibleText } from '../model/visible-text.ts';
import { chooseRecord, narrowPane, openSession, recording } from '../model/view.ts';
import { clockTime, duration, wholeTime } from '../model/words.ts';
import { BoundedText } from '../shared/bounded-text.tsx';
import { CodeBox } from './code-box.tsx';
import { partsOf } from './data-parts.ts';
import { exact } from './exact-text.ts';
import { changesOf, objectOf } from './file-changes.ts';
import type { FileChanges } from './file-changes.ts';
import { recordOfEvent } from './event-records.ts';
import type { Call, Entry } from './transcript.ts';

const SHORT_OUTPUT = 400;
const AT_FIRST = 2_000;
const MAX_LINES = 200;

export function TranscriptEntry({ entry }: { readonly entry: Entry }): JSX.Element {
  const { kind, title, text, call, sessionId } = entry;
  return (
    <li class={`entry is-${kind}`}>
      <Place entry={entry} />
      <div class="entry-body">
        {call === undefined ? <p class="entry-title">{visibleText(title, 300)}</p> : <CallTitle call={call} />}
        {text === undefined || text === '' ? undefined : <BoundedText text={text} most={AT_FIRST} />}
        {call === undefined ? undefined : <CallData call={call} />}
        {sessionId === undefined ? undefined : <button class="link" title={sessionId} onClick={() => openSession(sessionId)}>open that session</button>}
      </div>
    </li>
  );
}

function Place({ entry: { seq, type, t } }: { readonly entry: Entry }): JSX.Element {
  const show = (): void => {
    const record = recordOfEvent(recording.value.timeline, { seq, type, t });
    if (record === undefined) return;
    chooseRecord(record);
    if (narrowPane.value === 'middle') narrowPane.value = 'right';
  };
  const time = t === undefined ? 'no time' : clockTime(t).slice(0, 8);
  return <button class="entry-time" aria-label={`${time}, show the record of event ${seq}`} title={`Event ${seq}, ${type}${t === undefined ? '' : `\n${wholeTime(t)}`}\nShows its record and the state at that moment`} onClick={show}>{time}</button>;
}

const STATES = {
  requested: { text: 'asked for', standing: 'quiet' },
  waiting: { text: 'waits for somebody', standing: 'waiting' },
  allowed: { text: 'allowed', standing: 'quiet' },
  answered: { text: 'answered', standing: 'quiet' },
  delegated: { text: 'waits for another agent', standing: 'running' },
  running: { text: 'runs', standing: 'running' },
  completed: { text: 'completed', standing: 'done' },
  failed: { text: 'failed', standing: 'error' },
  denied: { text: 'denied', standing: 'error' },
  cancelled: { text: 'cancelled', standing: 'quiet' },
  unknown: { text: 'nobody knows how it ended', standing: 'error' },
} as const satisfies Record<Call['state'], unknown>;

/** A command that ran to its end has succeeded only with the exit code 0. */
function endOf({ state, output }: Call): { readonly text: string; readonly standing: string } {
  if (state !== 'completed') return STATES[state];
  const { exitCode, signalCode } = objectOf(output?.value);
  if (typeof exitCode === 'number') return { text: `exit ${exitCode}`, standing: exitCode === 0 ? 'done' : 'waiting' };
  return typeof signalCode === 'string' ? { text: `ended by ${visibleText(signalCode, 20)}`, standing: 'waiting' } : STATES[state];
}

function CallTitle({ call }: { readonly call: Call }): JSX.Element {
  const { name, input, allowedBy, startedAt, endedAt, isResumed } = call;
  const { text, standing } = endOf(call);
  const { command } = objectOf(input?.value);
  return (
    <p class="entry-title">
      {isResumed ? 'ran ' : ''}<code>{visibleText(isResumed && typeof command === 'string' ? command : name, 120)}</code>{' '}
      <span class={`badge is-${standing}`} title={allowedBy === undefined ? undefined : `Allowed by ${allowedBy}`}>{text}{startedAt !== undefined && endedAt !== undefined ? ` · ${duration(endedAt - startedAt)}` : ''}</span>
      {allowedBy === undefined ? undefined : <span class="call-allowed">allowed by {visibleText(allowedBy, 160)}</span>}
    </p>
  );
}

function CallData({ call: { name, input, output, state, isResumed } }: { readonly call: Call }): JSX.Element {
  const changes = name === 'edit' || name === 'write' ? changesOf(input?.value, output?.value) : undefined;
  return (
    <>
      {changes !== undefined ? <Changes {...changes} /> : isResumed ? undefined : input === undefined ? <p class="left-out">What it was given is told further above.</p> : <Parts value={input.value} />}
      {output === undefined || (changes !== undefined && state === 'completed') ? undefined : <Output value={output.value} isOpen={state !== 'completed'} />}
    </>
  );
}

function Output({ value, isOpen }: { readonly value: unknown; readonly isOpen: boolean }): JSX.Element {
  const characters = (JSON.stringify(value) ?? '').length;
  const told = Array.isArray(value) || typeof value !== 'object' ? value : Object.fromEntries(Object.entries(objectOf(value)).filter(([name, each]) => each !== null && each !== '' && (isOpen || name !== 'exitCode')));
  if (characters <= SHORT_OUTPUT) return <Parts value={told} />;
  return (
    <details open={isOpen}>
      <summary class="quiet">Result, {characters.toLocaleString('en')} characters</summary>
      <Parts value={told} />
    </details>
  );
}

function Changes({ path, lines }: FileChanges): JSX.Element {
  const rest = lines.length - MAX_LINES;
  return (
    <>
      <code>{exact(path)}</code>
      <div class="difference" role="group" aria-label={`Changes of ${path}`} tabIndex={0}>
        <div class="difference-lines">{lines.slice(0, MAX_LINES).map((line, index) => <div key={index} class={`line is-${KINDS[line[0] ?? ''] ?? 'same'}`}><code>{visibleText(line, 2_000)}</code></div>)}</div>
      </div>
      {rest > 0 ? <p class="left-out">{rest} more lines are not shown.</p> : undefined}
    </>
  );
}

const KINDS: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place' };

function Parts({ value }: { readonly value: unknown }): JSX.Element {
  const parts = partsOf(value);
  const short = parts.filter(({ isShort }) => isShort);
  return (
    <>
      {parts.map(({ name, text, isShort }) => (isShort ? undefined : <CodeBox key={name} label={name === '' ? 'value' : visibleText(name, 80)} text={text} most={AT_FIRST} />))}
      {short.length === 0 ? undefined : <p class="short-parts">{short.map(({ name, text }) => <span key={name}>{name === '' ? '' : `${visibleText(name, 80)} `}<code>{visibleText(text)}</code></span>)}</p>}
    </>
  );
}

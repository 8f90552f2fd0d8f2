/** One entry of a transcript. Its time leads to its record. */
import type { JSX } from 'preact';
import type { DataPart } from '../../../machines/inspection-log/data-parts.ts';
import { exact } from '../../../machines/exact-text.ts';
import type { ChangedLines } from '../../../machines/inspection-log/file-changes.ts';
import { visibleText } from '../model/visible-text.ts';
import { chooseRecord, narrowPane, openSession, recording } from '../model/view.ts';
import { amount, clockTime, duration, wholeTime } from '../model/words.ts';
import { BoundedText } from '../shared/bounded-text.tsx';
import { CodeBox } from './code-box.tsx';
import { recordOfEvent } from './event-records.ts';
import type { Call, Entry } from './transcript.ts';

const SHORT_OUTPUT = 400;
const AT_FIRST = 2_000;

export function TranscriptEntry({ entry }: { readonly entry: Entry }): JSX.Element {
  const { kind, title, text, call, sessionId } = entry;
  return (
    <li class={`entry is-${kind}`}>
      <Place entry={entry} />
      <div class="entry-body">
        {call === undefined ? <p class="entry-title">{visibleText(title, 300)}</p> : <CallTitle call={call} />}
        {text === undefined || text === '' ? undefined : <BoundedText text={text} most={AT_FIRST} />}
        {call === undefined ? undefined : <CallData call={call} />}
        {sessionId === undefined ? undefined : (
          <button class="link" title={sessionId} onClick={() => openSession(sessionId)}>
            open that session
          </button>
        )}
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
  return (
    <button
      class="entry-time"
      aria-label={`${time}, show the record of event ${seq}`}
      title={`Event ${seq}, ${type}${t === undefined ? '' : `\n${wholeTime(t)}`}\nShows its record and the state at that moment`}
      onClick={show}
    >
      {time}
    </button>
  );
}

function CallTitle({
  call: { name = '', command, told = '', status = 'quiet', allowedBy, startedAt, endedAt, isResumed },
}: {
  readonly call: Call;
}): JSX.Element {
  return (
    <p class="entry-title">
      {isResumed ? 'ran ' : ''}
      <code>{visibleText(isResumed ? (command ?? name) : name, 120)}</code>{' '}
      <span class={`badge is-${status}`} title={allowedBy === undefined ? undefined : `Allowed by ${allowedBy}`}>
        {visibleText(told, 40)}
        {startedAt !== undefined && endedAt !== undefined ? ` · ${duration(endedAt - startedAt)}` : ''}
      </span>
      {allowedBy === undefined ? undefined : <span class="call-allowed">allowed by {visibleText(allowedBy, 160)}</span>}
    </p>
  );
}

function CallData({ call: { path, changes, input, output, state, isResumed } }: { readonly call: Call }): JSX.Element {
  const hasChanges = path !== undefined && changes !== undefined;
  const isOpen = state !== 'completed';
  return (
    <>
      {hasChanges ? (
        <Changes path={path} changes={changes} />
      ) : isResumed ? undefined : input === undefined ? (
        <p class="left-out">What it was given is told further above.</p>
      ) : (
        <Parts parts={input} />
      )}
      {output === undefined || (hasChanges && !isOpen) ? undefined : output.characters <= SHORT_OUTPUT ? (
        <Parts parts={output.parts} />
      ) : (
        <details open={isOpen}>
          <summary class="quiet">Result, {amount(output.characters)} characters</summary>
          <Parts parts={output.parts} />
        </details>
      )}
    </>
  );
}

function Changes({
  path,
  changes: { lines, omitted },
}: {
  readonly path: string;
  readonly changes: ChangedLines;
}): JSX.Element {
  return (
    <>
      <code>{exact(path)}</code>
      <div class="difference" role="group" aria-label={`Changes of ${path}`} tabIndex={0}>
        <div class="difference-lines">
          {lines.map((line, index) => (
            <div key={index} class={`line is-${KINDS[line[0] ?? ''] ?? 'same'}`}>
              <code>{visibleText(line, 2_000)}</code>
            </div>
          ))}
        </div>
      </div>
      {omitted > 0 ? <p class="left-out">{omitted} more lines are not shown.</p> : undefined}
    </>
  );
}

const KINDS: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place' };

function Parts({ parts }: { readonly parts: readonly DataPart[] }): JSX.Element {
  const short = parts.filter(({ isShort }) => isShort);
  return (
    <>
      {parts.map(({ name, text, isShort }) =>
        isShort ? undefined : (
          <CodeBox key={name} label={name === '' ? 'value' : visibleText(name, 80)} text={text} most={AT_FIRST} />
        ),
      )}
      {short.length === 0 ? undefined : (
        <p class="short-parts">
          {short.map(({ name, text }) => (
            <span key={name}>
              {name === '' ? '' : `${visibleText(name, 80)} `}
              <code>{visibleText(text)}</code>
            </span>
          ))}
        </p>
      )}
    </>
  );
}

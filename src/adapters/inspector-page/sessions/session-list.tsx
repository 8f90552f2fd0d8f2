/** The sessions of the home: those that wait for a person first, and how many they are. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ShownSummary } from '../../../actors/inspection/shown-answers.ts';
import { visibleText } from '../model/visible-text.ts';
import { about, chosenSession, now, openTables, openMany, openSession } from '../model/view.ts';
import { amount, clockTime, duration, instant } from '../model/words.ts';
import { rowAfter } from '../shared/list-keys.ts';
import { When } from '../shared/when.tsx';
import { commandLine } from './command-line.ts';
import { keepSessions, knownSessions } from './known-sessions.ts';
import type { KnownSessions } from './known-sessions.ts';
import { NowStrip } from './past.tsx';
import { wantFocus } from './session-watch.ts';
import { SESSION_FILTERS, matching, nameOf, shortId, silentMs, usualText } from './session-words.ts';
import type { SessionFilter } from './session-words.ts';
import { isTicked, tickAll, tickNone, tickTo, tickedCount, toggleTick } from './ticked.ts';
import './session-list.css';

export function SessionList(): JSX.Element | undefined {
  const hasSessions = about.value?.hasSessions === true;
  useEffect(() => (hasSessions ? keepSessions() : undefined), [hasSessions]);
  const known = knownSessions.value;
  if (!hasSessions) return undefined;
  return known === undefined ? <p class="empty">The sessions are looked up.</p> : <List known={known} />;
}

/** To what is told in tables beside the sessions. */
function TableLinks(): JSX.Element {
  const { hasFleet, hasSchedules } = about.value ?? {};
  return (
    <>
      {hasFleet === true ? (
        <button class="link" onClick={() => openTables('fleet')}>
          Fleet
        </button>
      ) : undefined}
      {hasSchedules === true ? (
        <button class="link" onClick={() => openTables('schedules')}>
          Schedules
        </button>
      ) : undefined}
    </>
  );
}

function List({ known: { sessions, total, because } }: { readonly known: KnownSessions }): JSX.Element {
  const [search, setSearch] = useState('');
  const [filter, setFilter] = useState<SessionFilter>('all');
  const [agent, setAgent] = useState('');
  const agents = [...new Set(sessions.map(({ agentId }) => agentId))].toSorted();
  const ofAgent = agents.includes(agent) ? sessions.filter(({ agentId }) => agentId === agent) : sessions;
  const fits = SESSION_FILTERS.find(({ id }) => id === filter)?.fits ?? (() => true);
  const shown = matching(ofAgent.filter(fits), search);
  const isLong = sessions.length > 5 || search !== '';
  return (
    <div class="sessions">
      <div class="sessions-head">
        <h2 class="pane-title">Sessions</h2>
        <TableLinks />
        <span class="badge">{amount(total)}</span>
      </div>
      <NowStrip what="This list shows" />
      <Needing sessions={sessions} />
      {because === undefined ? undefined : (
        <p class="sessions-note" role="status">
          Not up to date: {because}
        </p>
      )}
      {isLong ? (
        <>
          <Filters sessions={ofAgent} filter={filter} setFilter={setFilter} />
          <div class="sessions-search">
            <input
              type="search"
              aria-label="Search the sessions"
              placeholder="Search the sessions"
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
            <Agents agents={agents} agent={agent} setAgent={setAgent} />
          </div>
        </>
      ) : undefined}
      <Ticks sessions={shown} />
      <Options sessions={shown} />
      {shown.length > 0 ? undefined : (
        <p class="sessions-note">{sessions.length === 0 ? 'There are no sessions yet.' : 'No session says that.'}</p>
      )}
      {total > sessions.length ? (
        <p class="sessions-note">
          {amount(total - sessions.length)} more, which changed before these, are not shown:{' '}
          <code>{commandLine(['session', 'list'])}</code>
        </p>
      ) : undefined}
    </div>
  );
}

interface FiltersProps {
  /** Of which they count. */
  readonly sessions: readonly ShownSummary[];
  readonly filter: SessionFilter;
  readonly setFilter: (filter: SessionFilter) => void;
}

function Filters({ sessions, filter, setFilter }: FiltersProps): JSX.Element {
  return (
    <div class="filters" role="group" aria-label="Which sessions are listed">
      {SESSION_FILTERS.map(({ id, text, fits }) => (
        <button key={id} aria-pressed={filter === id} onClick={() => setFilter(id)}>
          {text} <span class="number">{amount(sessions.filter(fits).length)}</span>
        </button>
      ))}
    </div>
  );
}

interface AgentsProps {
  readonly agents: readonly string[];
  readonly agent: string;
  readonly setAgent: (agent: string) => void;
}

function Agents({ agents, agent, setAgent }: AgentsProps): JSX.Element | undefined {
  if (agents.length < 2) return undefined;
  return (
    <select aria-label="Of which agent" value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
      <option value="">All agents</option>
      {agents.map((id) => (
        <option key={id} value={id}>
          {visibleText(id, 40)}
        </option>
      ))}
    </select>
  );
}

/** What must not be overlooked. It opens the first that is not shown already. */
function Needing({ sessions }: { readonly sessions: readonly ShownSummary[] }): JSX.Element {
  const waiting = sessions.filter(({ need }) => need !== undefined);
  const next = waiting.find(({ sessionId }) => sessionId !== chosenSession.value);
  const answers = waiting.filter(({ need }) => need === 'answer').length;
  const left = waiting.filter(({ need }) => need === 'left').length;
  const others = waiting.length - answers - left;
  const text = [
    ...(answers === 0 ? [] : [`${answers} ${answers === 1 ? 'waits' : 'wait'} for you`]),
    ...(others === 0 ? [] : [`${others} ${others === 1 ? 'needs' : 'need'} attention`]),
    ...(left === 0 ? [] : [`${left} left with a failure`]),
  ].join(', ');
  const isHere = next === undefined && waiting.length > 0;
  return (
    <div role="status">
      {waiting.length === 0 ? undefined : next === undefined ? (
        <p class="waiting-count">
          {text}
          {isHere ? <span> it is open</span> : undefined}
        </p>
      ) : (
        <button
          class="waiting-count"
          onClick={() => {
            wantFocus(next.sessionId);
            openSession(next.sessionId);
          }}
        >
          {text}
          <span>{waiting.length === 1 ? 'open it' : 'open the next'}</span>
        </button>
      )}
    </div>
  );
}

/** What is ticked, and all that the filter shows at once. */
function Ticks({ sessions }: { readonly sessions: readonly ShownSummary[] }): JSX.Element | undefined {
  const count = tickedCount.value;
  if (about.value?.canAnswer !== true || (sessions.length < 2 && count === 0)) return undefined;
  const shown = sessions.map(({ sessionId }) => sessionId);
  return (
    <div class="ticks" role="group" aria-label="Ticked sessions">
      {count === 0 ? (
        <span class="quiet">
          <kbd>X</kbd> ticks one
        </span>
      ) : (
        <button class="primary" onClick={openMany}>
          {amount(count)} ticked …
        </button>
      )}
      {shown.every(isTicked) ? undefined : (
        <button class="link" onClick={() => tickAll(shown)}>
          Tick all {amount(shown.length)}
        </button>
      )}
      {count === 0 ? undefined : (
        <button class="link" onClick={tickNone}>
          Untick all
        </button>
      )}
    </div>
  );
}

function Options({ sessions }: { readonly sessions: readonly ShownSummary[] }): JSX.Element | undefined {
  const list = useRef<HTMLUListElement>(null);
  const [focused, setFocused] = useState<string>();
  const chosen = chosenSession.value;
  const stop =
    [focused, chosen].find((id) => sessions.some(({ sessionId }) => sessionId === id)) ?? sessions[0]?.sessionId;
  const shown = sessions.map(({ sessionId }) => sessionId);
  const move = (event: KeyboardEvent): void => {
    if (about.value?.canAnswer === true && ticks(event, stop, shown)) return event.preventDefault();
    const to = rowAfter(
      event.key,
      sessions.findIndex(({ sessionId }) => sessionId === stop),
      sessions.length,
    );
    const session = to === undefined ? undefined : sessions[to];
    if (session === undefined || to === undefined) return;
    event.preventDefault();
    if (event.shiftKey && stop !== undefined) {
      if (!isTicked(stop)) toggleTick(stop);
      tickTo(session.sessionId, shown);
    }
    setFocused(session.sessionId);
    (list.current?.children[to] as HTMLElement | undefined)?.focus();
  };
  if (sessions.length === 0) return undefined;
  return (
    <ul ref={list} role="listbox" aria-label="Sessions" class="session-options" onKeyDown={move}>
      {sessions.map((session) => (
        <Option
          key={session.sessionId}
          session={session}
          isChosen={session.sessionId === chosen}
          isStop={session.sessionId === stop}
          onFocus={() => setFocused(session.sessionId)}
          onTick={(isRange) => (isRange ? tickTo(session.sessionId, shown) : toggleTick(session.sessionId))}
        />
      ))}
    </ul>
  );
}

/** @returns whether the key was for that */
function ticks(event: KeyboardEvent, stop: string | undefined, shown: readonly string[]): boolean {
  const { key, ctrlKey, metaKey, altKey } = event;
  const isCommand = ctrlKey || metaKey;
  if (altKey) return false;
  if (isCommand && key.toLowerCase() === 'a') tickAll(shown);
  else if (!isCommand && key.toLowerCase() === 'x' && stop !== undefined)
    if (event.shiftKey) tickTo(stop, shown);
    else toggleTick(stop);
  else if (key === 'Escape' && tickedCount.value > 0) tickNone();
  else return false;
  return true;
}

interface OptionProps {
  readonly session: ShownSummary;
  readonly isChosen: boolean;
  readonly isStop: boolean;
  readonly onFocus: () => void;
  /** @param isRange all from the one before to this one */
  readonly onTick: (isRange: boolean) => void;
}

function Option({ session, isChosen, isStop, onFocus, onTick }: OptionProps): JSX.Element {
  const {
    sessionId,
    agentId,
    title,
    updatedAt,
    why,
    words: { text, status },
  } = session;
  const name = visibleText(nameOf(session), 80);
  const until = why?.kind === 'queued_wake' || why?.kind === 'retry' ? instant(why.until) : undefined;
  const silent = silentMs(session, now.value);
  const canTick = about.value?.canAnswer === true;
  const open = (): void => openSession(sessionId);
  const press = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    open();
  };
  return (
    <li
      role="option"
      aria-selected={isChosen}
      aria-checked={canTick ? isTicked(sessionId) : undefined}
      tabIndex={isStop ? 0 : -1}
      class={`session-option is-${silent === undefined || status === 'error' ? status : 'waiting'}`}
      title={`${name}\n${sessionId}${why === undefined ? '' : `\n${visibleText(why.text, 300)}`}`}
      onClick={open}
      onKeyDown={press}
      onFocus={onFocus}
    >
      {canTick ? (
        <span
          class="session-tick"
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            onTick(event.shiftKey);
          }}
        />
      ) : undefined}
      <span class="session-name">{name}</span>
      <span class="session-age">
        {instant(updatedAt) === undefined ? (
          shortId(sessionId)
        ) : (
          <When iso={updatedAt} tell={(at) => duration(now.value - at)} />
        )}
      </span>
      <span class="session-status">
        {text}
        {until === undefined ? '' : ` ${clockTime(until).slice(0, 5)}`}
        {silent === undefined ? '' : `, silent for ${duration(silent)}${usualText(session)}`}
      </span>
      <span class="session-agent">{title === undefined ? shortId(sessionId) : visibleText(agentId, 40)}</span>
    </li>
  );
}

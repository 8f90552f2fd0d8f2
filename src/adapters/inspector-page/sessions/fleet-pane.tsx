/** What the workers over the store do between them, and its schedules, in tables: asked for again and again while it is shown. */
import type { Signal } from '@preact/signals';
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { FleetCell, ShownFleet } from '../../../actors/inspection/fleet-words.ts';
import { reasonOf, server } from '../model/transport.ts';
import { openSession } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { whileSeen } from '../model/while-seen.ts';
import { duration } from '../model/words.ts';
import { When } from '../shared/when.tsx';
import { NowStrip } from './past.tsx';
import { Section } from './section.tsx';
import type { Told } from './side-views.ts';

const EVERY_MS = 2_000;

type Tables = Told<ShownFleet>;

const fleet = signal<Tables>({});
const schedules = signal<Tables>({});

const checkOf = (told: Signal<Tables>, ask: () => Promise<ShownFleet>) => async (): Promise<void> => {
  try {
    told.value = { value: await ask() };
  } catch (error) {
    told.value = { ...told.value, because: reasonOf(error) };
  }
};
const checkFleet = checkOf(fleet, server.fleet);
const checkSchedules = checkOf(schedules, server.schedules);

export function FleetPane(): JSX.Element {
  return <TablesPane title="Fleet" note="The fleet is shown as it is" told={fleet} check={checkFleet} />;
}

export function SchedulesPane(): JSX.Element {
  return (
    <TablesPane
      title="All schedules"
      note="The schedules are shown as they are"
      told={schedules}
      check={checkSchedules}
    />
  );
}

interface TablesPaneProps {
  readonly title: string;
  readonly note: string;
  readonly told: Signal<Tables>;
  readonly check: () => Promise<void>;
}

function TablesPane({ title: heading, note: strip, told, check }: TablesPaneProps): JSX.Element {
  useEffect(() => whileSeen(check, EVERY_MS), [check]);
  const { value, because } = told.value;
  return (
    <div class="session">
      <h2 class="unseen">{heading}</h2>
      <NowStrip what={strip} />
      {because === undefined ? undefined : (
        <p class="left-out" role="status">
          Not up to date: {visibleText(because, 500)}
        </p>
      )}
      {value?.parts.map(({ title, count, columns, rows, note }) => (
        <Section key={title} title={title} isOpenAtFirst aside={count}>
          {() => (
            <>
              {rows.length === 0 ? undefined : (
                <div class="wakes" role="region" aria-label={title} tabIndex={0}>
                  <table>
                    <thead>
                      <tr>
                        {columns.map((column) => (
                          <th key={column} scope="col">
                            {column}
                          </th>
                        ))}
                      </tr>
                    </thead>
                    <tbody>
                      {rows.map((cells, row) => (
                        <tr key={row}>
                          {cells.map((cell, index) => (
                            <td key={index}>
                              <Cell cell={cell} at={Date.parse(value.at)} />
                            </td>
                          ))}
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
              )}
              {note === undefined ? undefined : <p class="left-out">{note}</p>}
            </>
          )}
        </Section>
      ))}
    </div>
  );
}

function Cell({
  cell: { text = '', status, since, until, session },
  at,
}: {
  readonly cell: FleetCell;
  readonly at: number;
}): JSX.Element {
  const shown = visibleText(text, 500);
  if (since !== undefined) return <When iso={since} tell={(from) => duration(at - from)} />;
  if (until !== undefined)
    return Date.parse(until) < at ? (
      <span class="badge is-error">
        <When iso={until} tell={(to) => `overdue ${duration(at - to)}`} />
      </span>
    ) : (
      <When iso={until} tell={(to) => duration(to - at)} />
    );
  if (session !== undefined)
    return (
      <button class="link" title={session} onClick={() => openSession(session)}>
        {shown}
      </button>
    );
  return <span class={status === undefined ? undefined : `badge is-${status}`}>{shown}</span>;
}

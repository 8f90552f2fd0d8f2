/** What the workers over the store do between them: asked for again and again while it is shown. */
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

const told = signal<Told<ShownFleet>>({});

async function check(): Promise<void> {
  try {
    told.value = { value: await server.fleet() };
  } catch (error) {
    told.value = { ...told.value, because: reasonOf(error) };
  }
}

export function FleetPane(): JSX.Element {
  useEffect(() => whileSeen(check, EVERY_MS), []);
  const { value, because } = told.value;
  return (
    <div class="session">
      <h2 class="unseen">Fleet</h2>
      <NowStrip what="The fleet is shown as it is" />
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
  cell: { text = '', status, since, session },
  at,
}: {
  readonly cell: FleetCell;
  readonly at: number;
}): JSX.Element {
  const shown = visibleText(text, 500);
  if (since !== undefined) return <When iso={since} tell={(from) => duration(at - from)} />;
  if (session !== undefined)
    return (
      <button class="link" title={session} onClick={() => openSession(session)}>
        {shown}
      </button>
    );
  return <span class={status === undefined ? undefined : `badge is-${status}`}>{shown}</span>;
}

/**
 * A recorded program whose inspector can be ended and started again on the same port, and the page that checks it.
 */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { diagramHash } from '../../src/adapters/diagram/diagram-hash.ts';
import { renderChart } from '../../src/adapters/diagram/render-chart.ts';
import { listen } from '../../src/adapters/inspector/inspector-server.ts';
import type { InspectorServer } from '../../src/adapters/inspector/inspector-server.ts';
import { newPlace } from '../../src/adapters/inspector/place.ts';
import type { Place } from '../../src/adapters/inspector/place.ts';
import type { InspectionRecord } from '../../src/machines/inspection-log/inspection-record.ts';
import { RecordedSource } from '../adapters/inspector/recorded-source.ts';
import type { TestBrowser } from '../support/browser.ts';
import type { PageCheck } from '../support/browser-pages.ts';

const PAGE = fileURLToPath(new URL('../../dist/inspector-page/', import.meta.url));
const AT_A_TIME = 10_000;
const BEGIN = Date.parse('2026-03-01T12:00:00Z');
const SUPERVISOR = 'b1:x:0';

type Body = Omit<InspectionRecord, 's' | 't'> & Readonly<Record<string, unknown>>;

/** Numbered from `from` on, one a second. */
export function told(bodies: readonly Body[], from = 1): readonly InspectionRecord[] {
  return bodies.map(
    (body, index) => ({ ...body, s: from + index, t: BEGIN + (from + index) * 1_000 }) as unknown as InspectionRecord,
  );
}

export const supervisor: Body = {
  k: 'actor',
  a: SUPERVISOR,
  id: 'supervisor',
  kind: 'taskSupervisor',
  value: 'accepting',
  status: 'active',
};

export function task(number: number, label = `job ${number}`): Body {
  return {
    k: 'actor',
    a: `b1:x:${number}`,
    parent: SUPERVISOR,
    id: `task_${number}`,
    kind: 'task',
    value: 'queued',
    status: 'active',
    facts: { label },
  };
}

export function ended(number: number, value = 'completed'): Body {
  return { k: 'step', a: `b1:x:${number}`, type: 'END', taken: ['running|END|0'], value, status: 'done' };
}

export interface TreeSetup {
  readonly page: Page;
  readonly source: RecordedSource;
  /** Ends the inspector, with every connection. */
  stop(): Promise<void>;
  /**
   * Starts one on the same port, of this source or another; none has signed in there. @param place default: that of
   * the first, as if only the connection had been gone
   */
  start(source?: RecordedSource, place?: Place): Promise<InspectorServer>;
  /** Signs the browser in, in a tab of its own. */
  signInElsewhere(): Promise<void>;
}

export async function treeSetup(
  browser: TestBrowser,
  {
    records,
    limit,
    before,
    ...check
  }: {
    readonly records: readonly InspectionRecord[];
    readonly limit?: number;
    readonly before?: (page: Page) => Promise<unknown>;
  } & PageCheck,
): Promise<TreeSetup> {
  const source = new RecordedSource(limit === undefined ? {} : { limit });
  // One that waits would be opened at once.
  source.sessions = async () => ({ sessions: [], total: 0 });
  for (let at = 0; at < records.length; at += AT_A_TIME) source.push(records.slice(at, at + AT_A_TIME));
  const first = newPlace();
  const start = (of: RecordedSource, port: number, place: Place): Promise<InspectorServer> =>
    listen(
      {
        source: of,
        port,
        pictures: { hash: diagramHash, draw: renderChart },
        pageDirectory: PAGE,
        onProblem: () => undefined,
      },
      place,
    );
  let server = await start(source, 0, first);
  const port = Number(new URL(server.origin).port);
  onTestFinished(() => server.close());
  const page = await browser.open(check);
  onTestFinished(() => page.context().close());
  await before?.(page);
  await page.goto(server.signInAddress());
  return {
    page,
    source,
    stop: () => server.close(),
    start: async (of = source, place = first) => (server = await start(of, port, place)),
    signInElsewhere: async () => {
      const tab = await page.context().newPage();
      await tab.goto(server.signInAddress());
      await tab.close();
    },
  };
}

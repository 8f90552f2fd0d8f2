/**
 * A recorded task that is started, ignores an event and waits for a timer; the page that shows it, and what an
 * accessibility check finds in it.
 */
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { diagramHash } from '../../src/adapters/diagram/diagram-hash.ts';
import { renderChart } from '../../src/adapters/diagram/render-chart.ts';
import type { ChartPictures } from '../../src/adapters/inspector/inspector-options.ts';
import { startInspector } from '../../src/adapters/inspector/inspector.ts';
import type { InspectionRecord } from '../../src/machines/inspection-log/inspection-record.ts';
import { describeChart } from '../../src/machines/inspection/describe-chart.ts';
import { taskMachine } from '../../src/machines/task/task-machine.ts';
import { RecordedSource } from '../adapters/inspector/recorded-source.ts';
import type { TestBrowser } from '../support/browser.ts';

export const SUPERVISOR = 'b1:x:0';
export const TASK = 'b1:x:1';
const AT_A_TIME = 10_000;
const BEGIN = Date.parse('2026-03-01T12:00:00Z');
const PAGE = fileURLToPath(new URL('../../dist/inspector-page/', import.meta.url));

type Body = Omit<InspectionRecord, 's' | 't'> & Readonly<Record<string, unknown>>;

const BODIES: readonly Body[] = [
  { k: 'machine', a: SUPERVISOR, id: 'task', chart: describeChart(taskMachine) },
  { k: 'actor', a: SUPERVISOR, id: 'supervisor', kind: 'taskSupervisor', status: 'active' },
  {
    k: 'actor',
    a: TASK,
    parent: SUPERVISOR,
    id: 'task_1',
    kind: 'task',
    chart: 'task',
    value: 'queued',
    status: 'active',
    facts: { label: 'Build it', taskId: 'task_1' },
  },
  {
    k: 'event',
    a: TASK,
    e: 1,
    from: SUPERVISOR,
    type: 'START',
    data: { command: 'npm \u202Etest', deep: { list: [1, 2, 3] } },
  },
  {
    k: 'step',
    a: TASK,
    e: 1,
    type: 'START',
    taken: ['queued|START|0'],
    value: { running: 'starting' },
    status: 'active',
    context: { attempt: 1 },
  },
  { k: 'event', a: TASK, e: 2, type: 'WAKE' },
  { k: 'step', a: TASK, e: 2, type: 'WAKE', taken: [], value: { running: 'starting' }, status: 'active' },
  { k: 'event', a: TASK, e: 3, type: 'STARTED' },
  { k: 'timer', a: TASK, id: 'xstate.after.idle.task.running', delayMs: 60_000, dueAt: BEGIN + 3_600_000 },
  {
    k: 'step',
    a: TASK,
    e: 3,
    type: 'STARTED',
    taken: ['running.starting|STARTED|0'],
    value: { running: 'active' },
    status: 'active',
    context: { attempt: 1, pid: 4 },
  },
];

export function storyRecords(bodies: readonly Body[] = BODIES, from = 1): InspectionRecord[] {
  return bodies.map(
    (body, index) => ({ ...body, s: from + index, t: BEGIN + from + index }) as unknown as InspectionRecord,
  );
}

export interface ShownStory {
  readonly page: Page;
  readonly source: RecordedSource;
  /** Shows the place that the part of the address after `#` names. */
  readonly show: (place: string) => Promise<void>;
}

export interface StoryOptions {
  readonly records?: readonly InspectionRecord[];
  readonly draw?: ChartPictures['draw'];
  readonly colorScheme?: 'light' | 'dark';
}

/** Signed in, with the story read. Closed when the test has finished. */
export async function shownStory(
  browser: TestBrowser,
  {
    records = storyRecords(),
    draw = (chart) => renderChart(chart, { styles: 'outside' }),
    colorScheme = 'light',
  }: StoryOptions = {},
): Promise<ShownStory> {
  const source = new RecordedSource();
  // One that waits would be opened at once.
  source.sessions = async () => ({ sessions: [], total: 0 });
  for (let at = 0; at < records.length; at += AT_A_TIME) source.push(records.slice(at, at + AT_A_TIME));
  const server = await startInspector({
    source,
    pictures: { hash: diagramHash, draw },
    pageDirectory: PAGE,
    onProblem: () => undefined,
  });
  onTestFinished(() => server.close());
  const page = await browser.open({ colorScheme, viewport: { width: 1440, height: 900 } });
  onTestFinished(() => page.context().close());
  await page.goto(server.signInAddress());
  // What is shown at first leaves out what stands behind the story.
  await page.getByRole('combobox', { name: 'Which records' }).selectOption('All records');
  await page.getByText(`${records.length.toLocaleString('en')} records`, { exact: true }).waitFor();
  return {
    page,
    source,
    show: async (place) => {
      await page.evaluate((hash) => {
        (globalThis as unknown as { location: { hash: string } }).location.hash = hash;
      }, place);
    },
  };
}

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What the check finds within the columns of these names, or on the whole page, one line each. */
export async function accessibilityFaults(page: Page, regions?: readonly string[]): Promise<readonly string[]> {
  await page.evaluate(readFileSync(axeFile, 'utf8'));
  const found = await page.evaluate(async (names) => {
    const { axe } = globalThis as unknown as {
      axe: {
        run: (
          context: unknown,
        ) => Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
      };
    };
    const { violations } = await axe.run(
      names === undefined
        ? { include: [['html']] }
        : { include: names.map((name) => [`section[aria-label="${name}"]`]) },
    );
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
  }, regions);
  return found;
}

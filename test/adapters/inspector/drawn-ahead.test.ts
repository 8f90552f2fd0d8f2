/** Charts are drawn before they are asked for: counted, not timed. */
import { describe, expect, it, vi } from 'vitest';
import { diagramHash } from '../../../src/adapters/diagram/diagram-hash.ts';
import { DrawnAhead } from '../../../src/adapters/inspector/drawn-ahead.ts';
import { createRecorderSource } from '../../../src/actors/inspection/recorder-source.ts';
import type { ChartDescription } from '../../../src/machines/inspection/chart-description.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import { inspected } from './inspector-client.ts';
import { RecordedSource } from './recorded-source.ts';

const chart = describeChart(taskMachine);
const named = (id: string): ChartDescription => ({ ...chart, id });
const told = (id: string) => ({ k: 'machine', s: 1, t: 1, a: 'b1:x:0', id, chart: named(id) }) as const;

/** Draws when it is let. */
function easel(): { readonly pictures: ConstructorParameters<typeof DrawnAhead>[0]; readonly drawn: string[] } {
  const drawn: string[] = [];
  const draw = async ({ id }: ChartDescription): Promise<string> => {
    drawn.push(id);
    if (id === 'broken') throw new Error('it cannot be drawn');
    return `<svg xmlns="http://www.w3.org/2000/svg" data-chart="${id}"/>`;
  };
  return { pictures: { hash: diagramHash, draw }, drawn };
}

describe('charts are drawn ahead', () => {
  it('of all actors that there are, before any page is open', async () => {
    const charts = new Map([['task', named('task')]]);
    const heard = new Set<() => void>();
    const recorder = {
      header: { format: 'inspection-log/1', boot: 'b1', startedAt: 1 },
      range: () => ({ first: 1, last: 0 }),
      async *records() {
        // None is read for it.
      },
      follow: (listener: () => void) => {
        heard.add(listener);
        return () => void heard.delete(listener);
      },
      chart: (id: string) => charts.get(id),
      toldCharts: () => charts,
      isAttached: true,
      statistics: {} as never,
    } as const;
    const { pictures, drawn } = easel();
    const { server } = await inspected({ source: createRecorderSource({ recorder, title: 'x' }), pictures });
    await vi.waitFor(() => expect(drawn).toEqual(['task']), { timeout: 10_000 });
    charts.set('wake', named('wake'));
    for (const listener of heard) listener();
    await vi.waitFor(() => expect(drawn).toEqual(['task', 'wake']), { timeout: 10_000 });
    await server.close();
    expect(heard.size).toBe(0);
  });

  it('not of a program that ends before it has rested once: it is not kept by that', async () => {
    const { pictures, drawn } = easel();
    const ahead = new DrawnAhead(pictures);
    ahead.follow({ toldCharts: () => new Map([['task', named('task')]]), follow: () => () => undefined });
    ahead.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(drawn).toEqual([]);
  });

  it('when a page is told of them, each once', async () => {
    const source = new RecordedSource();
    source.push([told('one'), { ...told('two'), s: 2 }, { ...told('one'), s: 3 }]);
    const { pictures, drawn } = easel();
    const { ask } = await inspected({ source, pictures });
    expect(drawn).toEqual([]);
    await ask('/api/records');
    await vi.waitFor(() => expect(drawn).toEqual(['one', 'two']));
    await ask('/api/records');
    expect(drawn).toEqual(['one', 'two']);
  });

  it('one that cannot be drawn costs the others nothing, and is drawn again when it is asked for', async () => {
    const source = new RecordedSource();
    source.charts.set('broken', named('broken'));
    source.push([told('broken'), { ...told('two'), s: 2 }]);
    const { pictures, drawn } = easel();
    const { ask } = await inspected({ source, pictures });
    await ask('/api/records');
    await vi.waitFor(() => expect(drawn).toEqual(['broken', 'two']));
    expect((await ask('/api/charts/broken.svg')).status).toBe(500);
    expect(drawn).toEqual(['broken', 'two', 'broken']);
  });

  it('no more than so many, and none after its server was closed', async () => {
    const { pictures, drawn } = easel();
    const ahead = new DrawnAhead(pictures);
    ahead.hurry();
    ahead.see(Array.from({ length: 200 }, (_, index) => told(`chart ${index}`)));
    await vi.waitFor(() => expect(drawn).toHaveLength(64));
    const other = new DrawnAhead(pictures);
    other.see([told('late')]);
    other.close();
    await new Promise((resolve) => void setImmediate(resolve));
    expect(drawn).toHaveLength(64);
  });
});

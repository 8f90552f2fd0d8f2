/** Charts as data and as pictures. */
import { describe, expect, it, vi } from 'vitest';
import { diagramHash } from '../../../src/adapters/diagram/diagram-hash.ts';
import { renderChart } from '../../../src/adapters/diagram/render-chart.ts';
import { inspected } from './inspector-client.ts';
import { RecordedSource } from './recorded-source.ts';

describe('a chart', () => {
  it('comes as data', async () => {
    const { ask, source } = await inspected();
    const { status, headers, text } = await ask('/api/charts/task');
    expect([status, headers['content-type'], JSON.parse(text)]).toEqual([
      200,
      'application/json; charset=utf-8',
      JSON.parse(JSON.stringify(source.charts.get('task'))),
    ]);
  });

  it('comes as a picture that is known by its hash', async () => {
    const { ask, source } = await inspected();
    const chart = source.charts.get('task');
    if (chart === undefined) throw new Error('there is no chart of the task');
    const { status, headers, text } = await ask('/api/charts/task.svg');
    expect([status, headers['content-type'], headers.etag, headers['cache-control']]).toEqual([
      200,
      'image/svg+xml; charset=utf-8',
      `"${diagramHash(chart)}"`,
      'private, no-cache',
    ]);
    expect(text).toBe(await renderChart(chart));
  });

  it('is not drawn or sent again for a browser that has it', async () => {
    const draw = vi.fn<typeof renderChart>(renderChart);
    const { ask } = await inspected({ pictures: { hash: () => 'aa11', draw } });
    for (const path of ['/api/charts/task.svg', '/api/charts/task']) {
      for (const tag of ['"aa11"', 'W/"aa11"', '"other", "aa11"', '*']) {
        const { status, headers, bytes } = await ask(path, { headers: { 'if-none-match': tag } });
        expect([status, headers.etag, bytes.length]).toEqual([304, '"aa11"', 0]);
      }
    }
    expect(draw).not.toHaveBeenCalled();
    expect((await ask('/api/charts/task.svg', { headers: { 'if-none-match': '"older"' } })).status).toBe(200);
  });

  it.each(['nothing', 'nothing.svg', '.svg', '%2e%2e.svg', '__proto__', 'constructor', 'x'.repeat(600), '%00'])(
    'that was never told of is not there: %s',
    async (id) => {
      const { ask } = await inspected();
      const { status, text } = await ask(`/api/charts/${id}`);
      expect([status, (JSON.parse(text) as { code: string }).code]).toEqual([404, 'INSPECTOR_CHART_UNKNOWN']);
    },
  );

  it('has the id that it was told by, however it is written', async () => {
    const source = new RecordedSource();
    const chart = source.charts.get('task');
    if (chart === undefined) throw new Error('there is no chart of the task');
    source.charts.set('my chart/ü', chart);
    const { ask } = await inspected({ source });
    expect((await ask(`/api/charts/${encodeURIComponent('my chart/ü')}`)).status).toBe(200);
    expect((await ask('/api/charts/%ff')).status).toBe(400);
  });

  it('that cannot be drawn is an error that says nothing of the inside, and its owner hears why', async () => {
    const { ask, problems, source } = await inspected({
      pictures: { hash: () => 'aa11', draw: () => Promise.reject(new Error(`failed in ${import.meta.filename}`)) },
    });
    const { status, text, headers } = await ask('/api/charts/task.svg');
    expect([status, JSON.parse(text)]).toEqual([
      500,
      { code: 'INSPECTOR_FAILED', message: 'the inspector failed to answer', hint: expect.any(String) },
    ]);
    expect([headers.etag, problems.length, source.followers]).toEqual([undefined, 1, 0]);
  });
});

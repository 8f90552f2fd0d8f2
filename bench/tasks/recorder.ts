/** No-op tasks with a recorder attached, against none: what recording costs, and that it costs nothing once it is detached. In the words of dist/, as in ../subagents/worker-parts.ts. */
import { createSystemClock } from 'wakechart/node';
import { interleave, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { createManager, noop, request } from './managers.ts';

const COUNT = 100_000;

interface RecorderModule {
  readonly createRecorder: (options: object) => { detach(): void; readonly statistics: { readonly records: number; readonly faults: number } };
}

type Mode = 'off' | 'detached' | 'on';

async function taskUs(mode: Mode, { createRecorder }: RecorderModule): Promise<number> {
  const manager = createManager(noop);
  const recorder = mode === 'off' ? undefined : createRecorder({ root: manager.supervisor, clock: createSystemClock() });
  if (mode === 'detached') recorder?.detach();
  let completed = 0;
  const startedMs = performance.now();
  await new Promise<void>((resolve) => {
    manager.subscribe((event) => {
      if (event.type === 'background_task_completed' && (completed += 1) === COUNT) resolve();
    });
    for (let index = 0; index < COUNT; index += 1) void manager.spawn(request);
  });
  const us = ((performance.now() - startedMs) / COUNT) * 1_000;
  recorder?.detach();
  const { records = 0, faults = 0 } = recorder?.statistics ?? {};
  if (faults > 0 || (mode === 'on' && records < COUNT * 8)) throw new Error('the recorder lost something');
  return us;
}

export async function run(): Promise<BenchRow[]> {
  const module = (await import(new URL('../../../dist/actors/inspection/recorder.js', import.meta.url).href)) as RecorderModule;
  const rows: BenchRow[] = [];
  for (const [mode, name, limit, target] of [
    ['on', 'no-op tasks with a recorder', 2, '<= 2 x'],
    ['detached', 'the same after it was detached', 1.05, '0 % (<= 1.05 x)'],
  ] as const) {
    const { a: without, b: values } = await interleave(5, () => taskUs('off', module), () => taskUs(mode, module));
    const ratio = median(values.map((value, index) => value / (without[index] ?? Number.NaN)));
    rows.push({ name: `${name}, ${COUNT.toLocaleString('en')}`, unit: 'us per task', value: median(values), spread: spread(values), peer: 'without', peerValue: median(without), ratio, target, met: ratio <= limit });
  }
  return rows;
}

/** Tells what happened before a real thing and its chart disagreed, and how to see it again. */
import { RuntimeError } from '../machines/errors.ts';
import { stepText } from '../machines/inspection/chart-step.ts';
import type { ChartStep } from '../machines/inspection/chart-step.ts';
import type { Disagreement, DoneStep } from './chart-trial.ts';

/** Where a random run that failed is found again; absent for steps that were given. */
export interface Finding {
  readonly chart: string;
  readonly seed?: number | undefined;
  readonly path?: string | null | undefined;
}

export function disagreementError({ chart, seed, path }: Finding, found: Disagreement): RuntimeError {
  const steps = found.done.flatMap(({ step }) => (step === undefined ? [] : [step]));
  const { expected, received } = found.done.at(-1) ?? { expected: undefined, received: undefined };
  const replay = seed === undefined ? undefined : { seed, path: path ?? '' };
  return new RuntimeError(
    'CHART_DISAGREES',
    [
      `the real thing and the chart "${chart}" disagree about ${found.message}`,
      ...storyLines(found.done),
      `expected: ${textOf(expected)}`,
      `received: ${textOf(received)}`,
      ...(replay === undefined ? [] : [`again:    checkChart(…, …, { seed: ${replay.seed}, path: '${replay.path}' })`]),
      `only it:  checkChart(…, …, { steps: ${stepsText(steps)} })`,
    ].join('\n  '),
    {
      category: 'validation',
      hint: 'Correct the one of the two that is wrong, and keep the steps as a test.',
      details: { about: found.message, steps, expected, received, ...replay },
      cause: found,
    },
  );
}

/** @returns one line for each step, the start first */
function storyLines(done: readonly DoneStep[]): readonly string[] {
  const texts = done.map(({ step }) => (step === undefined ? 'start' : stepText(step)));
  const width = Math.max(0, ...texts.map((text) => text.length));
  return done.map(({ expected, received }, index) => {
    const isLast = index === done.length - 1;
    const stands = isLast ? `chart ${textOf(expected)}, real thing ${textOf(received)}` : textOf(expected);
    return `${String(index).padStart(2)}. ${(texts[index] ?? '').padEnd(width)}  ${stands}`;
  });
}

function stepsText(steps: readonly ChartStep[]): string {
  return textOf(steps);
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

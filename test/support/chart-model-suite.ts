/** The tests that every chart has with the real thing that lives by it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Disagreement, coverOf, follow, planOf, waysOf, without } from './chart-model-subject.ts';
import type { ModelSubject, RealSubject } from './chart-model-subject.ts';
import { modelRuns } from './model-runs.ts';

export interface ModelSuite {
  /** Random plans in a usual run. */
  readonly runs: number;
  /** When many are asked for. */
  readonly atMost?: number;
  readonly maxCommands?: number;
}

/** A limit for what hangs. */
const MODEL_TIMEOUT_MS = 600_000;

/** @param name what lives by the chart, as in `the chart of … and the real thing` */
export function describeModel<Facts extends object, Real extends RealSubject>(
  name: string,
  subject: ModelSubject<Facts, Real>,
  { runs, atMost = Infinity, maxCommands = 30 }: ModelSuite,
): void {
  const { never = {} } = subject;
  const ways = waysOf(subject);

  describe(`${name} and its chart`, () => {
    it('have a way to every transition, or a reason why nobody can bring it about', () => {
      const { transitions } = planOf(subject);
      expect(Object.keys(never).filter((id) => !transitions.includes(id))).toEqual([]);
      expect(transitions.filter((id) => !ways.to.has(id))).toEqual(transitions.filter((id) => id in never));
      expect(Object.values(never).filter((because) => because.length < 20)).toEqual([]);
    });

    it('take every transition together', async () => {
      const cover = coverOf(subject, ways);
      expect(cover.length).toBeGreaterThan(0);
      for (const plan of cover) await follow(subject, plan);
    });

    it(
      'agree after every command, in any order',
      async () => {
        const plans = fc.array(fc.constantFrom(...Object.keys(subject.commands)), {
          maxLength: maxCommands,
          size: 'max',
        });
        await fc.assert(
          fc.asyncProperty(plans, (plan) => follow(subject, plan)),
          modelRuns(runs, { atMost }),
        );
      },
      MODEL_TIMEOUT_MS,
    );

    it.each([...ways.moving])('are found to disagree when %s is lost on its way', async (command, plan) => {
      let isLost = false;
      const defect = without(subject, command, () => (isLost = true));
      await expect(follow(defect, plan)).rejects.toThrow();
      // Else it was something before it that they disagree about.
      expect(isLost).toBe(true);
    });

    it('are found to disagree when the real thing is another', async () => {
      const changed: ModelSubject<Facts, Real> = { ...subject, open: async () => misled(await subject.open()) };
      await expect(follow(changed, [])).rejects.toThrow(Disagreement);
    });
  });
}

/** Says of itself that it stands elsewhere. */
function misled<Real extends RealSubject>(real: Real): Real {
  return Object.create(real, { state: { value: () => 'elsewhere' }, close: { value: () => real.close() } }) as Real;
}

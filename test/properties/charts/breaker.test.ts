/** What keeps runs away from a candidate, as the real health that a process keeps tells it on a simulated clock. */
import { expect } from 'vitest';
import { MemoryCandidateHealthStore } from '../../../src/adapters/memory/memory-candidate-health-store.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { breakerMachine } from '../../../src/machines/run/breaker-machine.ts';
import type { CandidateHealth } from '../../../src/machines/run/candidate-health.ts';
import type { RunFailureKind } from '../../../src/machines/run/run-failure.ts';
import type { ChartModel } from '../../support/chart-model.ts';
import type { RealSubject } from '../../support/chart-model-subject.ts';
import { describeModel } from '../../support/chart-model-suite.ts';

const CANDIDATE = { provider: 'p', model: 'm' };
/** Longer than any rest, and than anything is remembered after it. */
const LONG_MS = 50 * 3_600_000;

interface Facts {
  isResting: boolean;
  because: 'passing' | 'billing' | undefined;
}

class Real implements RealSubject {
  readonly #clock = createSimulatedClock();
  readonly #candidateHealth = new MemoryCandidateHealthStore({ clock: this.#clock });

  async health(): Promise<CandidateHealth> {
    const [health] = await this.#candidateHealth.read([CANDIDATE]);
    if (health === undefined) throw new Error('there is no health');
    return health;
  }

  async state(): Promise<string> {
    return (await this.health()).state;
  }

  async fail(kind: RunFailureKind): Promise<void> {
    await this.#candidateHealth.report(CANDIDATE, { kind: 'failed', failure: { kind, message: 'no' } });
  }

  succeed = (): Promise<unknown> => this.#candidateHealth.report(CANDIDATE, { kind: 'succeeded' });
  ask = async (): Promise<boolean> => (await this.#candidateHealth.admit(CANDIDATE)).kind === 'admitted';

  async rest(): Promise<void> {
    const { until } = await this.health();
    if (until !== undefined) await this.#clock.advance(Math.max(0, Date.parse(until) - this.#clock.now()));
  }

  pass = (durationMs: number): Promise<void> => this.#clock.advance(durationMs);
  close(): void {}
}

type Model = ChartModel<Facts>;

/** A probe that has not come back counts as never sent: what it was sent for is as it was. */
function forgetProbe(model: Model): void {
  if (model.is('half_open')) model.tell(model.facts.because === 'billing' ? 'DISABLE' : 'COOL');
}

function recover(model: Model): void {
  model.tell('RECOVER');
  model.facts.isResting = false;
  model.facts.because = undefined;
}

describeModel<Facts, Real>(
  'a candidate',
  {
    chart: breakerMachine,
    facts: () => ({ isResting: false, because: undefined }),
    open: () => new Real(),
    agree: async (real, model) => {
      const { until, because, failures, billingFailures } = await real.health();
      const isOut = !model.is('closed');
      expect([until !== undefined, because !== undefined, failures + billingFailures > 0]).toEqual([
        isOut,
        isOut,
        isOut,
      ]);
    },
    commands: {
      'fails in passing': {
        tells: (model) => {
          if (model.facts.isResting) return;
          model.tell('COOL');
          // What is disabled is not made well by what passes, and not ill again.
          if (!model.is('cooling')) return;
          model.facts.because = 'passing';
          model.facts.isResting = true;
        },
        act: (real) => real.fail('rate_limit'),
      },
      'is not paid': {
        tells: (model) => {
          if (model.facts.isResting && model.is('disabled')) return;
          model.tell('DISABLE');
          model.facts.because = 'billing';
          model.facts.isResting = true;
        },
        act: (real) => real.fail('billing'),
      },
      'fails in a way that says nothing': {
        tells: (model) => forgetProbe(model),
        act: (real) => real.fail('format'),
      },
      succeeds: { tells: recover, act: (real) => real.succeed() },
      'is asked for': {
        tells: (model) => {
          if (!model.facts.isResting) model.tell('PROBE');
        },
        act: async (real, before) =>
          expect(await real.ask()).toBe(before.is('closed') || (!before.is('half_open') && !before.facts.isResting)),
      },
      'has rested': {
        tells: (model) => {
          forgetProbe(model);
          model.facts.isResting = false;
        },
        act: (real) => real.rest(),
      },
      'is forgotten': {
        tells: (model) => {
          forgetProbe(model);
          recover(model);
        },
        act: (real) => real.pass(LONG_MS),
      },
    },
  },
  { runs: 40, maxCommands: 40 },
);

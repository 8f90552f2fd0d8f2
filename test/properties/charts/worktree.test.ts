/**
 * A worktree in a real repository: what jobs, crashes and people do with it, and the record that is kept of it, beside
 * its chart.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { worktreeMachine } from '../../../src/machines/subagent/worktree-machine.ts';
import type { PreparedSubagentWorktree } from '../../../src/actors/subagent/worktree-adapter.ts';
import { gitSetup, put, removeTemplate } from '../../adapters/git/git-setup.ts';
import type { GitSetup } from '../../adapters/git/git-setup.ts';
import type { ChartModel } from '../../support/chart-model.ts';
import type { RealSubject } from '../../support/chart-model-subject.ts';
import { describeModel } from '../../support/chart-model-suite.ts';

const JOB = 'agent_1';

interface Facts {
  /** How often git could not make it. */
  failures: number;
  isDirty: boolean;
  /** Its process is gone. */
  isDead: boolean;
  /** Somebody has taken it over: it is theirs, and nothing is recorded any more. */
  isAdopted: boolean;
}

type Model = ChartModel<Facts>;

afterAll(removeTemplate);

class Real implements RealSubject {
  readonly #setup: GitSetup = gitSetup();
  #worktree: PreparedSubagentWorktree | undefined;
  #isRemoved = false;
  #isAdopted = false;
  failures = 0;

  /** As the record says; without one it was never made, or is gone. */
  state(): string {
    const [name] = this.#setup.names().filter((each) => each.endsWith('.json'));
    if (name === undefined) return this.#isAdopted ? 'ready' : this.#isRemoved ? 'removed' : 'absent';
    return (JSON.parse(readFileSync(join(this.#setup.worktrees, name), 'utf8')) as { readonly status: string }).status;
  }

  isRecorded(): boolean {
    return this.#setup.names().some((name) => name.endsWith('.json'));
  }

  isThere(): boolean {
    return this.#worktree !== undefined && existsSync(this.#worktree.worktreePath);
  }

  content(): string | undefined {
    const path = join(this.#worktree?.worktreePath ?? '', 'work.txt');
    return this.#worktree !== undefined && existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }

  async make(): Promise<void> {
    this.#worktree = await this.#setup.prepare();
  }

  /** Its process dies: all that is left of it is its record, and its folder. */
  async makeAndDie(): Promise<void> {
    this.#worktree = await this.#setup.crashed();
  }

  /** Where git wants to put the branch there is something else. */
  async makeInVain(): Promise<void> {
    const place = join(this.#setup.repository, '.git/refs/heads');
    writeFileSync(join(place, 'wakechart'), readFileSync(join(place, 'main')));
    await this.#setup.prepare().catch(() => (this.failures += 1));
    rmSync(join(place, 'wakechart'));
  }

  work(): void {
    put(join(this.#known.worktreePath, 'work.txt'), 'work\n');
  }

  takeWorkBack(): void {
    rmSync(join(this.#known.worktreePath, 'work.txt'));
  }

  /** What a job does when nothing of it runs any more. */
  async settle(): Promise<void> {
    const { adapter } = this.#setup;
    const inspection = await adapter.inspect(this.#known);
    if (!inspection.isClean) return adapter.preserve(this.#known, inspection);
    await adapter.remove(this.#known);
    this.#isRemoved = true;
  }

  async startAfterCrash(): Promise<void> {
    await this.#setup.adapter.reconcile();
    this.#isRemoved = !this.isThere();
  }

  async adopt(): Promise<void> {
    await this.#setup.adapter.adopt(JOB);
    this.#isAdopted = true;
  }

  /** @returns the code of the refusal */
  async discard(): Promise<string | undefined> {
    return this.#setup.adapter.discard(JOB).then(
      () => {
        this.#isRemoved = true;
        return undefined;
      },
      (error: unknown) => (RuntimeError.is(error) ? error.code : String(error)),
    );
  }

  close(): void {
    this.#setup.remove();
  }

  get #known(): PreparedSubagentWorktree {
    if (this.#worktree === undefined) throw new Error('no worktree was made');
    return this.#worktree;
  }
}

/** A check it, and what comes of that. */
function checked(model: Model): void {
  model.tell('INSPECT');
  model.tell(model.facts.isDirty ? 'DIRTY' : 'CLEAN');
  if (model.is('removing')) model.tell('REMOVED');
}

/** What is found of a process that is gone is in nobody's hands first. */
function found(model: Model): void {
  if (model.is('ready')) model.tell('OWNER_LOST');
}

const isAtWork = (model: Model): boolean => model.is('ready') && !model.facts.isAdopted;

const isLeft = (model: Model): boolean => model.is('preserved') || (isAtWork(model) && model.facts.isDead);

const MIDDLE =
  'a process has to die in the middle of it, or git to break there: test/adapters/git has each of these by itself';

describeModel<Facts, Real>(
  'a worktree in a repository',
  {
    chart: worktreeMachine,
    facts: () => ({ failures: 0, isDirty: false, isDead: false, isAdopted: false }),
    open: () => new Real(),
    never: {
      'creating|CREATE_UNKNOWN|0': MIDDLE,
      'creating|OWNER_LOST|0': MIDDLE,
      'inspecting|OWNER_LOST|0': MIDDLE,
      'removing|REMOVE_FAILED|0': MIDDLE,
      'removing|OWNER_LOST|0': MIDDLE,
    },
    agree: (real, model) => {
      // Nothing that somebody made is ever gone with it.
      expect(real.content()).toBe(model.facts.isDirty ? 'work\n' : undefined);
      expect(real.failures).toBe(model.facts.failures);
      expect(real.isRecorded()).toBe(!model.is('absent') && !model.is('removed') && !model.facts.isAdopted);
      expect(real.isThere()).toBe(!model.is('absent') && !model.is('removed'));
    },
    commands: {
      'it is made': {
        isPossible: (model) => model.is('absent'),
        tells: (model) => ['CREATE', 'CREATED'].forEach((event) => model.tell(event)),
        act: (real) => real.make(),
      },
      'it is made in vain': {
        isPossible: (model) => model.is('absent'),
        tells: (model) => {
          ['CREATE', 'CREATE_FAILED'].forEach((event) => model.tell(event));
          model.facts.failures += 1;
        },
        act: (real) => real.makeInVain(),
      },
      'it is made by a process that dies': {
        isPossible: (model) => model.is('absent'),
        tells: (model) => {
          ['CREATE', 'CREATED'].forEach((event) => model.tell(event));
          model.facts.isDead = true;
        },
        act: (real) => real.makeAndDie(),
      },
      'somebody works in it': {
        isPossible: (model) => !model.is('absent') && !model.isOver && !model.facts.isDirty,
        tells: ({ facts }) => void (facts.isDirty = true),
        act: (real) => real.work(),
      },
      'the work is taken back': {
        isPossible: (model) => model.facts.isDirty && !model.isOver,
        tells: ({ facts }) => void (facts.isDirty = false),
        act: (real) => real.takeWorkBack(),
      },
      'its job settles': {
        isPossible: (model) => isAtWork(model) && !model.facts.isDead,
        tells: checked,
        act: (real) => real.settle(),
      },
      'a process starts': {
        isPossible: (model) => isAtWork(model) && model.facts.isDead,
        tells: (model) => {
          found(model);
          checked(model);
        },
        act: (real) => real.startAfterCrash(),
      },
      'somebody adopts it': {
        isPossible: isLeft,
        tells: (model) => {
          found(model);
          model.tell('ADOPT');
          model.facts.isAdopted = true;
        },
        act: (real) => real.adopt(),
      },
      'somebody discards it': {
        isPossible: isLeft,
        tells: (model) => {
          found(model);
          checked(model);
        },
        act: async (real, { facts }) =>
          expect(await real.discard()).toBe(facts.isDirty ? 'WORKTREE_NOT_CLEAN' : undefined),
      },
    },
  },
  { runs: 8, atMost: 40, maxCommands: 8 },
);

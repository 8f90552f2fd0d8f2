/**
 * One attempt to get the lease of a session: asks who is there, takes a number, and makes sure that no other living
 * process has one.
 */
import type { Clock } from '../../actors/clock/clock.ts';
import { wakeConflict } from '../../actors/session/event-store.ts';
import type { WakeClaim, WakeRight } from '../../actors/session/event-store.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { LeaseHolding } from './lease-holding.ts';
import type { LeaseHoldingOptions } from './lease-holding.ts';
import { Inquiry, leaveNote } from './lease-inquiry.ts';
import type { Finding, InquiryExtent } from './lease-inquiry.ts';

/** The folder is closed with the lease, or by `giveUp`. */
export interface LeaseAcquisitionOptions extends LeaseHoldingOptions {
  readonly claim: WakeClaim;
  readonly clock: Clock;
  readonly leaseMs: number;
}

export class LeaseAcquisition {
  readonly #options: LeaseAcquisitionOptions;
  readonly #holding: LeaseHolding;
  /** Those who have not answered for the lease's length, by number. They stay on the line. */
  readonly #silent = new Map<number, Inquiry>();
  /** The numbers that were taken at the last check, highest first. */
  #taken: readonly number[] = [];

  constructor(options: LeaseAcquisitionOptions) {
    this.#options = options;
    this.#holding = new LeaseHolding(options);
  }

  /** To be called once. @throws RuntimeError WAKE_CONFLICT; the system's error. The caller must call `giveUp` then. */
  async run(): Promise<WakeRight> {
    const { claim } = this.#options;
    try {
      // When the wake of the log's epoch has ended, it does not matter who still has that number.
      if (claim.isOpen) await this.#passOrRefuse(claim.epoch, 'decided');
      do await this.#takeNumber();
      while (!(await this.#standsAboveAll()));
      this.#refuseIfSomebodyWoke();
      if (!this.#holding.win()) throw this.#conflict(undefined);
      await this.#tellAndTidy();
      return this.#holding;
    } finally {
      for (const inquiry of this.#silent.values()) inquiry.close();
    }
  }

  async giveUp(): Promise<void> {
    await this.#holding.refuse();
  }

  /** Takes the first free number above the log's epoch and above every silent holder. */
  async #takeNumber(): Promise<void> {
    let epoch = Math.max(this.#options.claim.epoch, ...this.#silent.keys()) + 1;
    // One that lives here contends at the same time as we do, or holds the right and has not written it into the log
    // yet.
    for (; !(await this.#holding.bind(epoch)); epoch += 1) await this.#passOrRefuse(epoch, 'answered');
  }

  /**
   * Asks every other process that might have taken a number meanwhile; those at or below the log's epoch have no say.
   * False when one above us is silent, and we need a number that is higher yet.
   */
  async #standsAboveAll(): Promise<boolean> {
    const { claim, folder } = this.#options;
    const own = this.#holding.epoch;
    this.#taken = folder.epochs();
    for (const epoch of this.#taken) {
      if (epoch <= claim.epoch || epoch === own || this.#silent.has(epoch)) continue;
      const finding = await this.#passOrRefuse(epoch, epoch > own ? 'answered' : 'decided');
      if (finding.kind !== 'silent' || epoch < own) continue;
      await this.#holding.stepBack();
      return false;
    }
    return true;
  }

  /** Asks the one with this number. @throws RuntimeError WAKE_CONFLICT when it lives and has not lost */
  async #passOrRefuse(epoch: number, patience: InquiryExtent): Promise<Finding> {
    if (this.#silent.has(epoch)) return { kind: 'silent' };
    const { folder, clock, leaseMs } = this.#options;
    const inquiry = new Inquiry({ address: folder.addressOf(epoch), clock, leaseMs, patience });
    const finding = await inquiry.finding;
    if (finding.kind === 'silent') this.#silent.set(epoch, inquiry);
    if (finding.kind === 'living' && finding.answer?.phase !== 'lost') throw this.#conflict(inquiry);
    return finding;
  }

  /** A holder that was silent keeps the right when it wakes before we have it. */
  #refuseIfSomebodyWoke(): void {
    for (const inquiry of this.#silent.values()) if (inquiry.answer?.phase === 'held') throw this.#conflict(inquiry);
  }

  /** Tells those that we have gone past, and takes away the names of the dead that the log has gone past as well. */
  async #tellAndTidy(): Promise<void> {
    const { claim, folder } = this.#options;
    const own = this.#holding.epoch;
    for (const inquiry of this.#silent.values()) inquiry.tellPassed(own);
    for (const epoch of this.#taken) {
      if (epoch > claim.epoch || this.#silent.has(epoch)) continue;
      // The wake of the log's epoch has ended, and is about to unbind by itself.
      const note = epoch === claim.epoch ? undefined : own;
      if ((await leaveNote(folder.addressOf(epoch), note)) === 'dead') await folder.remove(epoch);
    }
  }

  #conflict(inquiry: Inquiry | undefined): RuntimeError {
    const { sessionId } = this.#options;
    const { code, category, message, hint, details } = wakeConflict(sessionId);
    const answer = inquiry?.answer;
    if (answer === undefined) return new RuntimeError(code, message, { category, hint, details });
    const { pid, host, epoch } = answer;
    return new RuntimeError(code, `${message}: process ${pid} on ${host}, under epoch ${epoch}`, {
      category,
      hint,
      details: { ...details, pid, host, epoch },
    });
  }
}

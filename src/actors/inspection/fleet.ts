/**
 * The port of what many workers over one store do between them: who they are, what each holds, what waits for all of
 * them, and what waits for a person.
 */

export interface FleetWorker {
  readonly id: string;
  /** Host and process, for people. */
  readonly owner: string;
  /** ISO-8601. */
  readonly startedAt: string;
  /** ISO-8601: until then it counts as alive. It says so again in time, or others take over what it holds. */
  readonly aliveUntil: string;
  readonly isAlive: boolean;
  /** How many sessions it wakes; more than 1,000 are not counted. */
  readonly wakes: number;
  /** How many it has taken to wake in the next moments; more than 1,000 are not counted. */
  readonly claims: number;
}

/** The right to wake one session. */
export interface FleetLease {
  readonly sessionId: string;
  readonly agentId: string;
  readonly workerId: string;
  /** Absent: the worker is gone without a trace. */
  readonly owner?: string | undefined;
  /** Whether its worker lives. Else any worker may take it over. */
  readonly isAlive: boolean;
  readonly epoch: number;
  /** ISO-8601. */
  readonly since: string;
}

/** What is due and no worker has. */
export interface FleetLag {
  /** How many sessions; where `isCut`, at least so many. */
  readonly sessions: number;
  readonly isCut: boolean;
  /** ISO-8601: when the first of them was due. Absent: nothing waits. */
  readonly since?: string | undefined;
  /** Those that have waited longest first. A session that is due twice may count in two of them. */
  readonly parts: readonly FleetLagPart[];
}

interface FleetLagPart {
  readonly tenant: string;
  readonly priority: string;
  readonly sessions: number;
  /** ISO-8601. */
  readonly since: string;
}

/** A session that does not wake by itself until a client says something. */
export interface FleetParked {
  readonly sessionId: string;
  readonly agentId: string;
  readonly reason: string;
  /** ISO-8601. Absent: it is unknown. */
  readonly since?: string | undefined;
}

/** The first of a list, and how many there are in all; where `isCut`, at least so many. */
export interface FleetList<Item> {
  readonly items: readonly Item[];
  readonly total: number;
  readonly isCut: boolean;
}

export interface FleetOverview {
  /** ISO-8601, by the clock of the store, as all times here. */
  readonly at: string;
  /** Those that live first, then by name. */
  readonly workers: FleetList<FleetWorker>;
  /** Those without a living worker first, then those that run longest; where `isCut`, of some. */
  readonly leases: FleetList<FleetLease>;
  readonly lag: FleetLag;
  /** Those that were made last first. */
  readonly parked: FleetList<FleetParked>;
  /** Of all programs to the database, as far as its user may see them, and how many it takes. */
  readonly connections: { readonly open: number; readonly most: number };
  /** Whether this program is told of news at once. Else it searches for them every now and then. */
  readonly isHearing: boolean;
}

/** What an inspector asks the program that wakes a session. */
export interface FleetQuestion {
  readonly sessionId: string;
  /** To be ended, with all that it belongs to. Absent: nothing is. */
  readonly pid?: number | undefined;
}

/** `dead`: it does not tell the store that it lives. `silent`: it lives, and has not answered in time. */
export type FleetAnswer =
  | { readonly is: 'told'; readonly owner: string; readonly answer: string }
  | { readonly is: 'dead' | 'silent'; readonly owner: string };

/** What programs over one store ask each other. Nothing of it costs anything while no program asks. */
export interface FleetQuestions {
  /** Undefined: no program wakes the session. @throws RuntimeError STORAGE_FAILED, STORE_CLOSED */
  ask(question: FleetQuestion): Promise<FleetAnswer | undefined>;
  /** From now on this program answers, with a text. One who throws does not answer. */
  answerWith(answerer: (question: FleetQuestion) => Promise<string>): void;
}

export interface Fleet {
  /**
   * As it is at this moment. It costs the store a few index lookups, however much lies in it. @throws RuntimeError
   * STORAGE_FAILED, STORE_CLOSED
   */
  check(): Promise<FleetOverview>;
  /** Who has the right to wake the session. Undefined: no worker has. @throws as `check` */
  workerOf(sessionId: string): Promise<Pick<FleetWorker, 'owner' | 'aliveUntil'> | undefined>;
  /** Absent: programs cannot ask each other. */
  readonly questions?: FleetQuestions | undefined;
}

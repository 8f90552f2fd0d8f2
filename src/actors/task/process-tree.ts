/**
 * The port that owns process trees: it tags a tree before it is started, remembers it on disk, finds whatever belongs
 * to it wherever that has gone, ends it, and proves it gone.
 *
 * A tree is everything that descends from work a host started. Its members are found by parentage, process group and
 * session, and by what children inherit, an environment variable and on Linux a resource limit, so that daemons which
 * left all three are found too. A process is known by its pid *and* its start time: a pid alone may have gone to
 * another process.
 *
 *   const tree = await processTree.prepare({ taskId, commandPreview });   // tagged and recorded; nothing runs yet
 *   const { program, args, environment } = tree.launch({ program: '/bin/sh', args: ['-c', command], cwd, environment:
 *   process.env }); const child = spawn(program, args, { cwd, env: environment });
 *   await tree.attach(child.pid);                                         // at once after the spawn, in the same turn
 *   ...
 *   await tree.end({ graceMs });                                          // resolves when it is proven gone; forgets the record
 *
 * A host that is killed leaves its records. The next one calls `reconcile()` before it starts work of its own.
 */

/** One process, and no later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in a unit of the system's own; only equality means something. */
  readonly startTime: string;
}

/** A member of a tree that lives, and what it uses as far as the system tells. */
export interface LivingProcess extends ProcessIdentity {
  readonly parentPid: number;
  /** Of its program, at most fifteen characters. */
  readonly name?: string | undefined;
  /** Processor time so far, in milliseconds. */
  readonly processorMs?: number | undefined;
  /** Of memory, in bytes. */
  readonly residentBytes?: number | undefined;
  /** It was stopped, by a signal or a debugger, and does nothing until it is let go on. */
  readonly isSuspended?: true | undefined;
}

export interface ProcessUse extends Pick<LivingProcess, 'processorMs' | 'residentBytes' | 'isSuspended'> {
  /** Milliseconds since the epoch, to a second or two: a pid is given again. Absent where the system does not tell. */
  readonly startedAtMs?: number | undefined;
  /** With secrets that stand in it. Absent where it may not be read. */
  readonly commandLine?: readonly string[] | undefined;
}

export interface ProcessTree {
  /**
   * Makes a tag and records the intent under it. Must come before the spawn: a host that dies right after it has left a
   * trace.
   * @throws BackgroundTaskError category `storage` when the record cannot be written; then nothing may be started
   */
  prepare(work: ProcessTreeWork): Promise<TrackedProcessTree>;
  /**
   * Deals with what crashed hosts left. For each record whose host is dead, under the policy `kill` its survivors are
   * ended and the record removed; under `adopt` they are left alive and the tree becomes this host's own (see
   * `adopted`). Records of living hosts are left alone; one that cannot be read is set aside under another name, never
   * deleted. Several hosts may reconcile at once: each record is dealt with by one of them.
   */
  reconcile(options?: ReconcileOptions): Promise<readonly ReconciledProcessTree[]>;
  /** What was reconciled lately, by whichever host, as far as that is kept. */
  lost?(): Promise<readonly ReconciledProcessTree[]>;
  /** What one process of this system is and uses, whichever started it, for people. Undefined: none has that pid. */
  usageOf?(pid: number): Promise<ProcessUse | undefined>;
  /** The tree that `reconcile` adopted under `tag`. */
  adopted(tag: string): TrackedProcessTree | undefined;
}

interface ProcessTreeWork {
  readonly taskId: string;
  /** The session that it works for. Absent: none, or many. */
  readonly sessionId?: string | undefined;
  /** How long it may take, in milliseconds. Absent: as long as it likes. */
  readonly limitMs?: number | undefined;
  /** False: what it puts out goes to no log file. */
  readonly hasLogFile?: boolean | undefined;
  /** For people who read records, of which its beginning is kept; never run. */
  readonly commandPreview: string;
}

/** What is started, and with what. */
export interface ProcessLaunch {
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** All that the program gets. Trees around this one are named too, for a host that runs inside a task. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface TrackedProcessTree {
  /** Unique to this tree, safe in file names. */
  readonly tag: string;
  /**
   * How its root has to be started so that what descends from it is known. It replaces itself by the program where it
   * is another one first.
   */
  launch(launch: ProcessLaunch): ProcessLaunch;
  /** Binds the tree to its root. Takes the root's identity before it returns; resolves when that is on record. */
  attach(pid: number): Promise<void>;
  /** The members that live now. A zombie does not live. */
  survivors(): Promise<readonly ProcessIdentity[]>;
  /**
   * Ends every member and resolves when a check that covers the whole system finds none; the record is removed. With
   * nothing left to end it costs that one check. Calls while it runs join it, and with `graceMs` 0 they end its
   * patience; a call after a failure tries again.
   * @throws BackgroundTaskError category `process` naming the pids that are left; the record stays for `reconcile`
   */
  end(options?: EndProcessTreeOptions): Promise<EndedProcessTree>;
}

export interface EndProcessTreeOptions {
  /** How long members may take to end by themselves before they are asked to. Default 0. */
  readonly lingerMs?: number | undefined;
  /** Between SIGTERM and SIGKILL. Default 2000; 0 kills at once. */
  readonly graceMs?: number | undefined;
  /**
   * Also counts those who merely hold the root's output open, however they hid. Dearer; for when the output does not
   * end. Default false.
   */
  readonly includeOutputHolders?: boolean | undefined;
}

export interface EndedProcessTree {
  /** How many living processes had to be signalled. */
  readonly ended: number;
}

export interface ReconcileOptions {
  /** `report` changes nothing and says what there is, of living hosts too. Default `kill`. */
  readonly policy?: 'kill' | 'adopt' | 'report' | undefined;
  /** For survivors, between SIGTERM and SIGKILL. Default 2000. */
  readonly graceMs?: number | undefined;
  /** Of one tree, and no other. Default: all. */
  readonly tag?: string | undefined;
}

/** What became of one record: plain data. */
export interface ReconciledProcessTree {
  readonly tag: string;
  /** Absent when the record could not be read. */
  readonly taskId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly commandPreview?: string | undefined;
  readonly limitMs?: number | undefined;
  /** False: it has none. Absent: its host did not say. */
  readonly hasLogFile?: boolean | undefined;
  /** ISO-8601. */
  readonly startedAt?: string | undefined;
  /** The root, when the crashed host got as far as recording it. */
  readonly pid?: number | undefined;
  /** The process that owns the tree. Its token is absent where it could have none. */
  readonly host?: { readonly pid: number; readonly token?: string | undefined } | undefined;
  /** `left`: still there, for the reason given. */
  readonly action: 'killed' | 'gone' | 'adopted' | 'left';
  /** `elsewhere`: its host lives, or may live, in another pid namespace of this system, or something of it does. */
  readonly reason?:
    | 'host_alive'
    | 'elsewhere'
    | 'host_dead'
    | 'around_this_host'
    | 'being_reconciled'
    | 'unreadable'
    | 'not_ended'
    | undefined;
  /**
   * Who lives now: after `adopted`, and after `left` because of `not_ended`, or `elsewhere` as far as they are to be
   * seen; under the policy `report` of every tree, with what they use. Empty otherwise.
   */
  readonly survivors: readonly (ProcessIdentity | LivingProcess)[];
}

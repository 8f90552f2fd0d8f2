/** Every number that is told of a runtime: its name, what it counts, and by which labels. Never by session. */

/** `counter`: only grows while the process lives. `histogram`: how often something took how long. `gauge`: as it is. */
export type MetricKind = 'counter' | 'histogram' | 'gauge';

interface MetricDefinition {
  readonly kind: MetricKind;
  readonly help: string;
  /** In the order in which they are written. */
  readonly labels: readonly string[];
  /** Of a histogram: upper bounds, in its unit. */
  readonly buckets?: readonly number[];
}

/** How long work takes that may take a tenth of a second or half an hour. */
const WORK_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800] as const;
const LATE_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800] as const;

const counted = {
  wakechart_wakes_started_total: {
    kind: 'counter',
    help: 'Wakes that began in this process, by what they began for.',
    labels: ['agent', 'trigger'],
  },
  wakechart_wakes_total: {
    kind: 'counter',
    help: 'Wakes that ended, by outcome. "lost": the process of an earlier wake had died.',
    labels: ['agent', 'outcome'],
  },
  wakechart_wake_duration_seconds: {
    kind: 'histogram',
    help: 'How long wakes took.',
    labels: ['agent'],
    buckets: WORK_SECONDS,
  },
  wakechart_wake_lateness_seconds: {
    kind: 'histogram',
    help: 'How long after they were due sessions were woken by a worker of this process.',
    labels: [],
    buckets: LATE_SECONDS,
  },
  wakechart_model_steps_total: {
    kind: 'counter',
    help: 'Model steps that ended.',
    labels: ['provider', 'model', 'outcome'],
  },
  wakechart_model_step_duration_seconds: {
    kind: 'histogram',
    help: 'How long model steps took, with all their attempts and waits.',
    labels: ['provider', 'model'],
    buckets: WORK_SECONDS,
  },
  wakechart_model_attempt_failures_total: {
    kind: 'counter',
    help: 'Attempts to ask a model that failed.',
    labels: ['provider', 'model', 'kind'],
  },
  wakechart_tokens_total: {
    kind: 'counter',
    help: 'Tokens as the provider told. cached_input and cache_write are parts of input, reasoning one of output.',
    labels: ['provider', 'model', 'type'],
  },
  wakechart_cost_usd_total: {
    kind: 'counter',
    help: 'What model steps cost in US dollars, as far as prices are known.',
    labels: ['provider', 'model'],
  },
  wakechart_tool_calls_total: {
    kind: 'counter',
    help: 'Tool calls that ended.',
    labels: ['tool', 'outcome'],
  },
  wakechart_tool_call_duration_seconds: {
    kind: 'histogram',
    help: 'How long tool calls ran in one wake.',
    labels: ['tool'],
    buckets: WORK_SECONDS,
  },
  wakechart_requests_total: {
    kind: 'counter',
    help: 'What sessions asked people and clients for: permission, answer, custom_tool.',
    labels: ['kind'],
  },
  wakechart_events_total: {
    kind: 'counter',
    help: 'Events that wakes of this process stored, by type.',
    labels: ['type'],
  },
} as const satisfies Record<string, MetricDefinition>;

const read = {
  wakechart_store_up: { kind: 'gauge', help: '1 when the store answered within the limit, else 0.', labels: [] },
  wakechart_due_sessions: {
    kind: 'gauge',
    help: 'Sessions that are due and are not being woken, over the whole store; no more than 2,000 are counted.',
    labels: [],
  },
  wakechart_lag_seconds: {
    kind: 'gauge',
    help: 'For how long the first of those has been due. 0: nothing waits.',
    labels: [],
  },
  wakechart_running_wakes: {
    kind: 'gauge',
    help: 'Wakes under way in this process; each holds the lease of its session.',
    labels: [],
  },
  wakechart_worker_slots: { kind: 'gauge', help: 'Wakes that the workers of this process run at most.', labels: [] },
  wakechart_worker_phase: {
    kind: 'gauge',
    help: 'Workers of this process, by phase.',
    labels: ['phase'],
  },
  wakechart_worker_set_aside: {
    kind: 'gauge',
    help: 'Due sessions that workers of this process leave alone for now, by why; elsewhere: to others, for it lacks what they need.',
    labels: ['phase'],
  },
  wakechart_tasks: { kind: 'gauge', help: 'Background tasks of this process.', labels: ['status'] },
  wakechart_candidates_resting: {
    kind: 'gauge',
    help: 'Accounts and models that cool down or are disabled after failures.',
    labels: ['provider', 'state'],
  },
  wakechart_fleet_workers: {
    kind: 'gauge',
    help: 'Workers over the shared store, by whether they live.',
    labels: ['alive'],
  },
  wakechart_fleet_leases: { kind: 'gauge', help: 'Leases that workers over the shared store hold.', labels: [] },
  wakechart_fleet_parked_sessions: {
    kind: 'gauge',
    help: 'Sessions of the shared store that do not wake by themselves until a person says something.',
    labels: [],
  },
  wakechart_build_info: { kind: 'gauge', help: 'Always 1.', labels: ['version', 'node'] },
  process_start_time_seconds: { kind: 'gauge', help: 'When the process began, since the epoch.', labels: [] },
  process_resident_memory_bytes: { kind: 'gauge', help: 'Memory of the process.', labels: [] },
  process_cpu_seconds_total: { kind: 'counter', help: 'Processor time of the process.', labels: [] },
} as const satisfies Record<string, MetricDefinition>;

export type CountedMetric = keyof typeof counted;
export type ReadMetric = keyof typeof read;
export type MetricName = CountedMetric | ReadMetric;

export const METRICS: Readonly<Record<MetricName, MetricDefinition>> = { ...counted, ...read };

export type MetricLabels = Readonly<Record<string, string>>;

/** Something has happened: it is added to a counter, or observed by a histogram. */
export interface MetricChange {
  readonly metric: CountedMetric;
  readonly labels: MetricLabels;
  /** At least 0. */
  readonly value: number;
}

/** How something is when it is asked for. */
export interface MetricReading {
  readonly metric: ReadMetric;
  readonly labels: MetricLabels;
  readonly value: number;
}

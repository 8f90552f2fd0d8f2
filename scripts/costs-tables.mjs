// @ts-check
/** Which rows of the benches docs/costs.md and its picture show, under which words. */

/** @param {string} kind @param {string} count @param {string} how */
const task = (kind, count, how) => `no-op ${kind} tasks, ${count} at once, ${how}, 1 subscriber`;
/** @param {number} count */
const workers = (count) => `300 due sessions on files, ${count} worker process${count === 1 ? '' : 'es'}`;
const TEN_THOUSAND_AWAKE = 'the same in a session of 10,000 events';

const BY_HAND = 'full wakes, 1 worker / written by hand, 5 statements';

/** @type {Readonly<Record<string, readonly { readonly row: string, readonly label: string }[]>>} */
export const TABLES = {
  task: [
    ...['1,000', '10,000', '100,000', '1,000,000'].map((count) => ({
      row: task('process', count, 'heard of'),
      label: `a process task, ${count} at once`,
    })),
    { row: task('agent', '100,000', 'heard of'), label: 'an agent task, 100,000 at once' },
    { row: task('scheduled', '100,000', 'heard of'), label: 'a scheduled task, 100,000 at once' },
    { row: task('process', '100,000', 'waited for'), label: 'a process task that is waited for, 100,000 at once' },
    { row: 'a tool event of an agent task, one subscriber', label: 'a tool event' },
    { row: 'memory per live task', label: 'memory of a task that runs or waits' },
    { row: 'memory per finished task that is kept', label: 'memory of one that has ended, until `close`' },
  ],
  event: [
    {
      row: 'durable appends, 64 at once',
      label: 'events a second, 64 senders at once, each on the disk before its receipt',
    },
    { row: 'durable append, one at a time', label: 'one event after the other, each on the disk' },
    { row: 'append at event 1,000,000', label: 'an event in a session of a million, without the disk' },
    { row: 'open and fold 100,000 events', label: 'opening a session of 100,000 events without a checkpoint' },
    { row: 'open 1,000,000 events from a checkpoint', label: 'opening one of 1,000,000 from a checkpoint' },
    { row: 'bytes that one more message and its wake add', label: 'disk: a message and the wake that answers it' },
  ],
  wake: [
    { row: 'an empty wake with its message: processor time', label: 'a message and its wake, processor' },
    { row: 'an empty wake with its message: time', label: 'the same, from send to the end' },
    { row: `${TEN_THOUSAND_AWAKE}: processor time`, label: 'the same in a session of 10,000 events, processor' },
    { row: 'a wake with three tool calls: processor time', label: 'with three tool calls, processor' },
    {
      row: 'send to wake started, same process',
      label: 'from `send` to the beginning of the wake, worker in the same process',
    },
    { row: 'send to wake started, two processes', label: 'the same, worker in another process' },
    ...[1, 2, 4].map((count) => ({
      row: workers(count),
      label: `${count} worker process${count === 1 ? '' : 'es'} over one home, 8 at a time each`,
    })),
    { row: BY_HAND, label: 'on PostgreSQL, one worker' },
  ],
  rest: [
    { row: 'a session at rest: bytes in its files', label: 'disk: what its files hold after one wake' },
    {
      row: 'a session at rest: bytes of the disk, in whole blocks',
      label: 'disk: the blocks of its files and folders',
    },
    { row: 'an idle runtime over 500 sessions at rest: heap', label: 'heap of an idle runtime over 500 sessions' },
    { row: 'an idle runtime over 500 sessions at rest: resident', label: 'resident memory of its process' },
    {
      row: 'worker over 100,000 sleeping sessions: processor time per second',
      label: 'a worker over 100,000 sessions that sleep until a time: processor in a second',
    },
    { row: 'worker over 100,000 sleeping sessions: heap', label: 'the same: heap that the worker adds' },
    { row: 'worker over 100,000 sleeping sessions: start to rest', label: 'the same: from its start until it rests' },
  ],
  subagent: [
    { row: 'subagent worker, cold, to its first word', label: 'a process for it, from nothing' },
    { row: 'subagent worker, warm, from start to accepted', label: 'a process that is kept warm takes the job' },
    { row: '100 jobs through 8 workers', label: 'jobs a second, eight processes at once, each job in a new one' },
    { row: 'subagent worker, warm: resident', label: 'resident memory of its process' },
    {
      row: 'subagent worker, warm: its own, shared with no other process',
      label: 'of that its own: what one more process takes',
    },
  ],
};

/** @type {readonly { readonly row: string, readonly label: string }[]} */
export const BARS = [
  { row: task('process', '100,000', 'heard of'), label: 'A task, 100,000 at once' },
  { row: 'durable appends, 64 at once', label: 'Events a second, 64 senders, on the disk' },
  { row: 'durable append, one at a time', label: 'One event after the other, on the disk' },
  { row: 'an empty wake with its message: time', label: 'A message and its wake, on files' },
  { row: BY_HAND, label: 'Wakes a second, on PostgreSQL, one worker' },
  { row: 'subagent worker, cold, to its first word', label: 'The process of a subagent, from nothing' },
  { row: 'subagent worker, warm: its own, shared with no other process', label: 'Memory of one more of them' },
];

const COUNTS = ['1,000', '10,000', '100,000', '1,000,000'];

/**
 * @type {readonly { readonly title: string, readonly unit: string, readonly marks: readonly string[], readonly lines:
 * readonly { readonly label: string, readonly points: readonly { readonly row: string, readonly ofPeer?: boolean }[]
 * }[] }[]}
 */
export const LINES = [
  {
    title: 'A task, by how many at once',
    unit: 'microseconds',
    marks: ['1 k', '10 k', '100 k', '1 M'],
    lines: [
      { label: 'heard of', points: COUNTS.map((count) => ({ row: task('process', count, 'heard of') })) },
      { label: 'waited for', points: COUNTS.map((count) => ({ row: task('process', count, 'waited for') })) },
      { label: 'p-queue', points: COUNTS.map((count) => ({ row: task('process', count, 'heard of'), ofPeer: true })) },
    ],
  },
  {
    title: 'Wakes a second, by worker processes',
    unit: 'two cores, one home on files',
    marks: ['1', '2', '4'],
    lines: [{ label: 'on files', points: [1, 2, 4].map((count) => ({ row: workers(count) })) }],
  },
];

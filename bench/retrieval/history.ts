/**
 * Generated histories: what the labels say, hidden in sessions full of talk about the same projects. The same seed
 * gives the same history.
 */
import type { Labelled } from './labelled.ts';

export interface HistoryTurn {
  readonly person?: string | undefined;
  readonly agent?: string | undefined;
  readonly tool?: Labelled['tool'];
  /** Which label it answers. */
  readonly label?: number | undefined;
}

export interface HistorySession {
  readonly project: string;
  readonly title: string;
  readonly turns: HistoryTurn[];
}

export interface HistoryOptions {
  readonly seed: number;
  readonly sessions: number;
  readonly turnsPerSession: number;
}

const TALK: readonly string[] = [
  'Where are we with {a} in {project}?',
  '{a} of {project} checks fine to me, please go on with {b}.',
  'Could you check {a} again? {b} was reported by {who} as slow.',
  '{who} asked about {a} and {b}; I told them that we examine it this week.',
  'I moved {a} behind a flag, so {b} can wait until after the release.',
  'The tests of {a} are green again. Next is {b}.',
  'We should write down how {a} and {b} work together, {who} keeps asking.',
  'Nothing new about {a}. The ticket for {b} is still open.',
  'Done: {a} is cleaned up, and {b} has a test now.',
  'I would rather not touch {a} before {who} is back.',
  'Please summarize what changed in {a} since last week.',
  'The dashboard of {project} shows a spike for {a}, then {b} recovered by itself.',
];

const THINGS: readonly string[] = (
  'the invoice screen|the ledger|payout reports|the migration|the upload screen|onboarding|push messages|the settings screen|the build cache|flaky tests|the runners|the artifact proxy|click events|the backfill|orders|the schema registry|the landing page|' +
  'cookie consent|the pricing page|translations|the bastion|backups|certificates|the worker hosts|rate limits|the customer list|error budgets|the release notes|database passwords|the sitemap|the Android build|refunds|the nightly job|data quality|' +
  'the redirects|the VPN|on-call rota|memory usage|the commit hook|locking|the webhook|signing|late events|the heap size|the price list|the font files|the deep links|the replicas|the time zone setting'
).split('|');

const PEOPLE: readonly string[] = 'Ingrid Marek Yuki Priya Tobias Leila Jonas Amara Sven Chloe Diego Hana'.split(' ');

const COMMANDS: readonly string[] = [
  'npm test',
  'git status',
  'git log -5',
  'ls -la',
  'npm run lint',
  'docker ps',
  'make check',
  'kubectl get pods',
  'cat package.json',
  'git diff --stat',
];

/** Questions of other sessions about the same words, to which nobody knew the answer then. */
const NEAR_MISSES: readonly string[] = [
  'Somebody mentioned {words} today, but I have nothing on that yet.',
  'Note to self: examine {words} some time.',
  '{words}: does anybody remember? I do not.',
];

export function historyOf(
  labels: readonly Labelled[],
  { seed, sessions, turnsPerSession }: HistoryOptions,
): readonly HistorySession[] {
  const random = randomOf(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const projects = [...new Set(labels.map(({ project }) => project))];
  const filled = (text: string, project: string): string =>
    text
      .replaceAll('{project}', project)
      .replace('{a}', pick(THINGS))
      .replace('{b}', pick(THINGS))
      .replace('{who}', pick(PEOPLE));
  const all = Array.from({ length: sessions }, (_, index) => {
    const project = projects[index % projects.length] ?? '';
    const turns: HistoryTurn[] = Array.from({ length: turnsPerSession }, () => {
      const kind = random();
      if (kind < 0.15)
        return {
          tool: {
            name: 'shell_run',
            input: { command: pick(COMMANDS) },
            output: { exitCode: 0, stdout: filled('{a}: ok\n{b}: ok', project) },
          },
        };
      return kind < 0.6 ? { person: filled(pick(TALK), project) } : { agent: filled(pick(TALK), project) };
    });
    return { project, title: `${project}: ${pick(THINGS)}`, turns };
  });
  for (const [label, each] of labels.entries()) {
    const own = all.filter(({ project }) => project === each.project);
    if (each.kind !== 'learning' && each.kind !== 'memory') hide(pick(own).turns, each, label, random);
    const words = wordsOf(each.question, random);
    insert(pick(all).turns, [{ person: pick(NEAR_MISSES).replace('{words}', words) }], random);
  }
  return all;
}

function hide(
  turns: HistoryTurn[],
  { before, person, agent, tool }: Labelled,
  label: number,
  random: () => number,
): void {
  insert(turns, [...(before === undefined ? [] : [{ person: before }]), { person, agent, tool, label }], random);
}

function insert(turns: HistoryTurn[], added: readonly HistoryTurn[], random: () => number): void {
  turns.splice(Math.floor(random() * (turns.length + 1)), 0, ...added);
}

/** Some of the longer words of a question, in order. */
function wordsOf(question: string, random: () => number): string {
  const words = question
    .replaceAll(/[?]/g, '')
    .split(' ')
    .filter((word) => word.length > 3);
  const start = Math.floor(random() * Math.max(1, words.length - 2));
  return words.slice(start, start + 3).join(' ');
}

/** Mulberry32: the same numbers for the same seed, everywhere. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * The agents of the demo and the scripts they play: what a model would say, step by step, and what it expects to see.
 */

export const DEMO_AGENT = 'fixer';

/** The agent that works for it. */
export const DEMO_SUBAGENT = 'scribe';

/** How to tell whether it is done: what is learned on the way counts only then. */
export const DEMO_OUTCOME = {
  title: 'The tests of the cart pass.',
  criteria: ['node cart.test.mjs exits with 0'],
  check: { command: 'node cart.test.mjs' },
};

/** For a second session, which knows nothing of the first. */
export const DEMO_QUESTION = 'A total is wrong again. What do you know about that?';

export const DEMO_TITLE = 'Mend the cart';
export const DEMO_MESSAGE = 'The tests fail. Find out why, fix it, commit the fix, and have it noted in the changelog.';

const SCRIPT_FILE = 'script.json';
const CHANGELOG = 'CHANGELOG.md';

const fixerFile = `---
name: Fixer
description: Mends a failing test, then says what it did
provider: script
model: ${SCRIPT_FILE}
environment: host
tools:
  - shell_run
  - edit
  - retrieval_search
  - session_get_events
  - { agent: ${DEMO_SUBAGENT}, run: process, isolation: worktree }
permission:
  mode: ask
  allow:
    - shell_run(node cart.test.mjs $)
    - edit(cart.mjs)
budget:
  maxModelStepsPerWake: 12
---

You mend small projects. Run the tests, find the cause of what fails, change as little as
possible, run the tests again, commit, and say in one sentence what you did. The ${DEMO_SUBAGENT}
keeps the changelog.
`;

const scribeFile = `---
name: Scribe
description: Keeps the changelog
provider: script
model: ${SCRIPT_FILE}
environment: host
tools: [write, shell_run]
permission:
  mode: ask
  allow:
    - write(${CHANGELOG})
    - shell_run(git add ${CHANGELOG} $)
    - shell_run(git commit --message)
---

You note changes in ${CHANGELOG}, in one line each, and commit that.
`;

interface Step {
  readonly expect?: Readonly<Record<string, unknown>>;
  readonly text?: string;
  readonly commands?: readonly string[];
  /** Calls of other tools. */
  readonly calls?: readonly { readonly name: string; readonly input: Readonly<Record<string, string>> }[];
  readonly directive?: Readonly<Record<string, unknown>>;
}

const FIX = { path: 'cart.mjs', oldText: 'sum + line.cents', newText: 'sum + line.cents * line.quantity' } as const;
const SUBJECT = 'Count the quantity in the total';
const NOTED = 'The change is noted, and that is committed.';
const RECHECK_SECONDS = 1;

const LEARNING = {
  kind: 'lesson',
  title: 'A wrong total leaves the quantity out',
  detail: 'Sums over lines of a cart have to count cents times quantity; check cart.mjs first.',
  promoteToMemory: true,
} as const;

const RECHECK: readonly Step[] = [
  { text: 'I check whether the tests still pass.', commands: ['node cart.test.mjs'] },
  { expect: { lastToolResultIncludes: 'fail 0' }, directive: { outcome: 'sleep', summary: 'The tests still pass.' } },
];

const FIXER_STEPS: readonly Step[] = [
  {
    expect: { lastUserMessageIncludes: 'tests fail' },
    text: 'I run the tests to see what fails.',
    commands: ['node cart.test.mjs'],
  },
  {
    expect: { lastToolResultIncludes: 'fail 1' },
    text: 'One of two fails: two of a thing cost as much as one. I check the code.',
    commands: ['cat cart.mjs', 'git log --oneline'],
  },
  {
    expect: { lastToolResultIncludes: 'sum + line.cents' },
    text: 'The sum leaves the quantity out. I put it in.',
    calls: [{ name: 'edit', input: FIX }],
  },
  { expect: { lastToolResultOutcome: 'completed' }, text: 'I run the tests again.', commands: ['node cart.test.mjs'] },
  {
    expect: { lastToolResultIncludes: 'fail 0' },
    text: 'Both pass. I commit the fix, if I may.',
    commands: [`git commit --all --message '${SUBJECT}'`],
  },
  {
    expect: { lastToolResultIncludes: [SUBJECT, '1 file changed'] },
    text: 'It is in. The scribe notes it in the changelog.',
    calls: [
      {
        name: DEMO_SUBAGENT,
        input: { message: `Note in ${CHANGELOG} that the total of a cart counts the quantity now, and commit that.` },
      },
    ],
  },
  {
    expect: { lastToolResultIncludes: NOTED },
    directive: {
      outcome: 'sleep',
      summary:
        'The total left the quantity out. It counts now, both tests pass, and the fix is committed. The changelog waits on a branch of its own.',
      queuedWakes: [{ reason: 'recheck the tests', delaySeconds: RECHECK_SECONDS, dedupeKey: 'recheck' }],
      learnings: [LEARNING],
    },
  },
  ...RECHECK,
  // For a user who sends another message.
  ...RECHECK,
];

/** What a session plays that begins with the question. */
const ASKED_STEPS: readonly Step[] = [
  {
    text: 'I search for what I know.',
    calls: [{ name: 'retrieval_search', input: { query: 'wrong total of a cart' } }],
  },
  {
    expect: { lastToolResultIncludes: 'leaves the quantity out' },
    text: 'I have learned that before: sums over lines count cents times quantity. I would check cart.mjs first.',
    directive: { outcome: 'sleep', summary: 'It remembers what the first session learned.' },
  },
];

const SCRIBE_STEPS: readonly Step[] = [
  {
    text: 'I write it down.',
    calls: [
      {
        name: 'write',
        input: { path: CHANGELOG, content: '# Changelog\n\n- The total of a cart counts the quantity.\n' },
      },
    ],
  },
  { expect: { lastToolResultOutcome: 'completed' }, commands: [`git add ${CHANGELOG}`] },
  { expect: { lastToolResultOutcome: 'completed' }, commands: ["git commit --message 'Note what the fix changes'"] },
  { expect: { lastToolResultIncludes: '1 file changed' }, text: NOTED },
];

export interface DemoAgent {
  readonly agentId: string;
  /** Its agent file. */
  readonly source: string;
  readonly script: { readonly fileName: string; readonly source: string };
}

export const demoAgents: readonly DemoAgent[] = [
  {
    agentId: DEMO_AGENT,
    source: fixerFile,
    script: scriptOf('The demo: a failing test is mended and committed, and the change is noted.', FIXER_STEPS, [
      { firstUserMessageIncludes: DEMO_QUESTION, steps: ASKED_STEPS },
    ]),
  },
  {
    agentId: DEMO_SUBAGENT,
    source: scribeFile,
    script: scriptOf('The demo: a change is noted and committed.', SCRIBE_STEPS),
  },
];

interface Conversation {
  readonly firstUserMessageIncludes: string;
  readonly steps: readonly Step[];
}

function scriptOf(
  description: string,
  steps: readonly Step[],
  conversations: readonly Conversation[] = [],
): DemoAgent['script'] {
  const others = conversations.map((conversation) => ({ ...conversation, steps: conversation.steps.map(scriptStep) }));
  const script = {
    format: 'wakechart-script/1',
    description,
    steps: steps.map(scriptStep),
    ...(others.length === 0 ? {} : { conversations: others }),
    onEnd: 'sleep',
  };
  return { fileName: SCRIPT_FILE, source: `${JSON.stringify(script, undefined, 2)}\n` };
}

function scriptStep({ commands = [], calls = [], ...step }: Step): object {
  const toolCalls = [...commands.map((command) => ({ name: 'shell_run', input: { command } })), ...calls];
  return toolCalls.length === 0 ? step : { ...step, toolCalls };
}

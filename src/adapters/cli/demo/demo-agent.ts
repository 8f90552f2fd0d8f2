/** The agent of the demo and the script it plays: what a model would say, step by step, and what it expects to see. */

export const DEMO_AGENT = 'fixer';

export const DEMO_MESSAGE = 'The tests fail. Find out why, fix it, and commit the fix.';

const SCRIPT_FILE = 'script.json';

export const demoAgentFile = `---
name: Fixer
description: Mends a failing test, then says what it did
provider: script
model: ${SCRIPT_FILE}
tools: [shell_run, edit]
permission:
  mode: ask
  allow:
    - shell_run(node cart.test.mjs $)
    - edit(cart.mjs)
budget:
  maxModelStepsPerWake: 12
---

You mend small projects. Run the tests, find the cause of what fails, change as little as
possible, run the tests again, commit, and say in one sentence what you did.
`;

interface Step {
  readonly expect?: Readonly<Record<string, unknown>>;
  readonly text?: string;
  readonly commands?: readonly string[];
  readonly edit?: Readonly<Record<'path' | 'oldText' | 'newText', string>>;
  readonly directive?: Readonly<Record<string, unknown>>;
}

const FIX = { path: 'cart.mjs', oldText: 'sum + line.cents', newText: 'sum + line.cents * line.quantity' } as const;
const SUBJECT = 'Count the quantity in the total';
const RECHECK_SECONDS = 3600;

const STEPS: readonly Step[] = [
  { expect: { lastUserMessageIncludes: 'tests fail' }, text: 'I run the tests to see what fails.', commands: ['node cart.test.mjs'] },
  { expect: { lastToolResultIncludes: 'fail 1' }, text: 'One of two fails: two of a thing cost as much as one. I look at the code.', commands: ['cat cart.mjs', 'git log --oneline'] },
  { expect: { lastToolResultIncludes: 'sum + line.cents' }, text: 'The sum leaves the quantity out. I put it in.', edit: FIX },
  { expect: { lastToolResultOutcome: 'completed' }, text: 'I run the tests again.', commands: ['node cart.test.mjs'] },
  { expect: { lastToolResultIncludes: 'fail 0' }, text: 'Both pass. I commit the fix, if I may.', commands: [`git commit --all --message '${SUBJECT}'`] },
  {
    expect: { lastToolResultIncludes: [SUBJECT, '1 file changed'] },
    directive: {
      outcome: 'sleep',
      summary: 'The total left the quantity out. It counts now, both tests pass, and the fix is committed.',
      queuedWakes: [{ reason: 'recheck the tests', delaySeconds: RECHECK_SECONDS, dedupeKey: 'recheck' }],
    },
  },
  // For whoever sends another message.
  { text: 'I check whether the tests still pass.', commands: ['node cart.test.mjs', 'git status --short --branch'] },
  {
    expect: { lastToolResultIncludes: 'fail 0' },
    directive: { outcome: 'sleep', summary: 'The tests still pass.' },
  },
];

export const demoScript = {
  fileName: SCRIPT_FILE,
  source: `${JSON.stringify({ format: 'wakechart-script/1', description: 'The demo: a failing test is mended and committed.', steps: STEPS.map(scriptStep), onEnd: 'sleep' }, undefined, 2)}\n`,
};

function scriptStep({ commands = [], edit, ...step }: Step): object {
  const toolCalls = [...commands.map((command) => ({ name: 'shell_run', input: { command } })), ...(edit === undefined ? [] : [{ name: 'edit', input: edit }])];
  return toolCalls.length === 0 ? step : { ...step, toolCalls };
}

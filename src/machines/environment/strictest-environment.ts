/**
 * Several environments that hold at once. What one of them forbids is forbidden; what is given (mounts, vaults,
 * variables) is given only where all of them give it.
 */
import type { AgentBudget, AgentDefinition } from '../agent/agent-definition.ts';
import type { EnvironmentDefinition } from './environment-definition.ts';

/** The longest that a check may take, however many there are. */
const MAX_CHECK_SECONDS = 3_600;

const STRICTNESS = { preapproved: 0, ask: 1, deny: 2 } as const satisfies Record<
  EnvironmentDefinition['permission']['mode'],
  number
>;

type Mode = keyof typeof STRICTNESS;

/**
 * `own` within the bounds of `others`, the nearest first; it keeps its name and description. In whichever order the
 * others come, the same holds, but for which of several judges is asked: that of the last one, who is asked for all the
 * rest.
 */
export function strictestEnvironment(
  own: EnvironmentDefinition,
  others: readonly EnvironmentDefinition[],
): EnvironmentDefinition {
  if (others.length === 0) return own;
  const all = [own, ...others];
  return {
    environmentId: own.environmentId,
    description: own.description,
    sandbox: all.some(({ sandbox }) => sandbox === 'required') ? 'required' : 'off',
    network: all.some(({ network }) => network === 'disabled') ? 'disabled' : 'open',
    mounts: commonMounts(own, others),
    vaults: own.vaults.filter((name) => others.every(({ vaults }) => vaults.includes(name))),
    permission: {
      mode: all.map(({ permission }) => permission.mode).reduce(stricterMode),
      ask: sorted(
        all.flatMap(({ permission }) => permission.ask),
        own.permission.ask,
      ),
      deny: sorted(
        all.flatMap(({ permission }) => permission.deny),
        own.permission.deny,
      ),
    },
    budget: all.map(({ budget }) => budget).reduce(lowerOfEach),
    variables: commonVariables(own, others),
    ...hostBoundBy(all),
    quota: all.map(({ quota }) => quota).reduce(lowerOfEach),
    evaluation: everyEvaluation(all),
  };
}

/** Where one of them keeps a session on its machine it stays; it goes anywhere only where all of them say so. */
function hostBoundBy(all: readonly EnvironmentDefinition[]): Pick<EnvironmentDefinition, 'hostBound'> {
  if (all.some(({ hostBound }) => hostBound === true)) return { hostBound: true };
  return all.every(({ hostBound }) => hostBound === false) ? { hostBound: false } : {};
}

/** The agent within the bounds of its environment. */
export function agentWithin<Agent extends Pick<AgentDefinition, 'permission' | 'budget'>>(
  agent: Agent,
  { permission, budget }: Pick<EnvironmentDefinition, 'permission' | 'budget'>,
): Agent {
  return {
    ...agent,
    permission: {
      ...agent.permission,
      mode: stricterMode(agent.permission.mode, permission.mode),
      ask: unique([...agent.permission.ask, ...permission.ask]),
      deny: unique([...agent.permission.deny, ...permission.deny]),
    },
    budget: lowerOfEach<AgentBudget>(agent.budget, budget),
  };
}

/** The same folder at the same place, with the least access of all of them. */
function commonMounts(
  own: EnvironmentDefinition,
  others: readonly EnvironmentDefinition[],
): EnvironmentDefinition['mounts'] {
  return own.mounts.flatMap((mount) => {
    const theirs = others.map(({ mounts }) =>
      mounts.find(({ path, source }) => path === mount.path && source === mount.source),
    );
    if (theirs.some((each) => each === undefined)) return [];
    return [
      {
        ...mount,
        access: [mount, ...theirs].every((each) => each?.access === 'rw') ? ('rw' as const) : ('ro' as const),
      },
    ];
  });
}

function commonVariables(
  own: EnvironmentDefinition,
  others: readonly EnvironmentDefinition[],
): EnvironmentDefinition['variables'] {
  const { pass, set } = own.variables;
  return {
    pass: pass.filter((name) => others.every(({ variables }) => variables.pass.includes(name))),
    set: Object.fromEntries(
      Object.entries(set).filter(([name, value]) =>
        others.every(({ variables }) => Object.hasOwn(variables.set, name) && variables.set[name] === value),
      ),
    ),
  };
}

/**
 * Every check has to hold, one after the other; of several judges, the one of the session that all others work for is
 * asked.
 */
function everyEvaluation(all: readonly EnvironmentDefinition[]): EnvironmentDefinition['evaluation'] {
  const checks = new Map(
    all.flatMap(({ evaluation: { check } }) => (check === undefined ? [] : [[check.command, check] as const])),
  );
  const timeouts = all.flatMap(({ evaluation: { check } }) => (check === undefined ? [] : [check]));
  const commands = [...checks.keys()].toSorted();
  const [first] = commands;
  const shortest = (command: string): number =>
    Math.min(...timeouts.filter((check) => check.command === command).map(({ timeoutSeconds }) => timeoutSeconds));
  const timeoutSeconds = Math.min(
    MAX_CHECK_SECONDS,
    commands.reduce((sum, command) => sum + shortest(command), 0),
  );
  const judge = all.findLast(({ evaluation }) => evaluation.judge !== undefined)?.evaluation.judge;
  return {
    ...(first === undefined
      ? {}
      : {
          check: {
            command: commands.length === 1 ? first : commands.map((command) => `sh -c ${quoted(command)}`).join(' && '),
            timeoutSeconds,
          },
        }),
    ...(judge === undefined ? {} : { judge }),
  };
}

/** One word for the shell, so that no command can end the one that comes after it. */
function quoted(command: string): string {
  return `'${command.replaceAll("'", "'\\''")}'`;
}

function stricterMode(one: Mode, other: Mode): Mode {
  return STRICTNESS[other] > STRICTNESS[one] ? other : one;
}

/** Of each bound the lower one; one that only one of them has holds too. */
function lowerOfEach<Bounds extends Readonly<Record<string, number | undefined>>>(one: Bounds, other: Bounds): Bounds {
  const names = unique([...Object.keys(one), ...Object.keys(other)]);
  const lower = names.flatMap((name) => {
    const bounds = [one[name], other[name]].filter((bound) => bound !== undefined);
    return bounds.length === 0 ? [] : [[name, Math.min(...bounds)] as const];
  });
  return Object.fromEntries(lower) as Bounds;
}

/** Own rules as they are, then those of others in an order that does not depend on who has them. */
function sorted(rules: readonly string[], own: readonly string[]): string[] {
  const ours = unique(own);
  return [
    ...ours,
    ...unique(rules)
      .filter((rule) => !ours.includes(rule))
      .toSorted(),
  ];
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

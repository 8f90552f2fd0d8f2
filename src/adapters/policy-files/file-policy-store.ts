/** The policy as files: `<directory>/<agentId>.yaml`, and `all.yaml` for every agent, which only people write. */
import { join } from 'node:path';
import { isoTimeOf } from '../../actors/clock/iso-time.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { KeptRule, PolicyStore } from '../../actors/permission/policy-store.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { agentId as agentIdSchema } from '../../machines/ids.ts';
import { checkRule, formatRule, parseRule } from '../../machines/permission/permission-rule.ts';
import type { PermissionRule } from '../../machines/permission/permission-rule.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { underLock } from '../system/process-lock.ts';
import { policyBusy, policyUnwritable } from './policy-errors.ts';
import { makePolicyFolder, readPolicyFile, replacePolicyFile } from './policy-place.ts';
import { parsePolicy, withRule, withoutRule } from './policy-text.ts';

/** The name of the file for every agent, and so of none. */
const EVERY_AGENT = 'all';

export interface FilePolicyStoreOptions {
  /** Absolute; made with the first rule. It must lie outside every workspace: see `assertPolicyOutside`. */
  readonly directory: string;
  readonly clock: Pick<Clock, 'now'>;
}

export class FilePolicyStore implements PolicyStore {
  readonly #directory: string;
  readonly #clock: Pick<Clock, 'now'>;

  constructor({ directory, clock }: FilePolicyStoreOptions) {
    this.#directory = directory;
    this.#clock = clock;
  }

  async rules(agentId: string): Promise<readonly KeptRule[]> {
    const id = checkedAgent(agentId);
    // Read anew each time: a rule that forbids something counts from the moment it is written.
    const names = id === EVERY_AGENT ? [EVERY_AGENT] : [EVERY_AGENT, id];
    return names.flatMap((name) => {
      const source = readPolicyFile(this.#pathOf(name));
      return source === undefined
        ? []
        : parsePolicy({ source, fileName: fileNameOf(name), isForEveryAgent: name === EVERY_AGENT });
    });
  }

  async keep(agentId: string, rule: PermissionRule, { by }: Parameters<PolicyStore['keep']>[2]): Promise<void> {
    const checked = checkRule(rule);
    const text = formatRule(checked);
    await this.#change(agentId, (source, rules) => {
      if (rules.some((kept) => formatRule(kept.rule) === text)) return source;
      return withRule(source, { rule: checked, since: isoTimeOf(this.#clock.now()), by });
    });
  }

  async remove(agentId: string, ruleText: string): Promise<boolean> {
    const text = formatRule(parseRule(ruleText));
    let isRemoved = false;
    await this.#change(agentId, (source, rules) => {
      // From behind, so that the places of those before stay the same.
      const places = rules.flatMap(({ rule }, index) => (formatRule(rule) === text ? [index] : [])).toReversed();
      isRemoved = places.length > 0;
      return places.reduce(withoutRule, source);
    });
    return isRemoved;
  }

  async #change(agentId: string, changed: (source: string, rules: readonly KeptRule[]) => string): Promise<void> {
    const id = checkedAgent(agentId);
    if (id === EVERY_AGENT) throw reserved();
    const path = this.#pathOf(id);
    await makePolicyFolder(this.#directory);
    try {
      await underLock(
        join(this.#directory, `.${id}.lock`),
        async () => {
          const source = readPolicyFile(path) ?? '';
          const next = changed(source, parsePolicy({ source, fileName: fileNameOf(id), isForEveryAgent: false }));
          if (next === source) return;
          // What is written must be what is read, or the agent would be left without a policy.
          parsePolicy({ source: next, fileName: fileNameOf(id), isForEveryAgent: false });
          await replacePolicyFile(path, next);
        },
        (waitedMs) => policyBusy(path, waitedMs),
      );
    } catch (error) {
      throw RuntimeError.is(error) ? error : policyUnwritable(path, error);
    }
  }

  #pathOf(name: string): string {
    return join(this.#directory, fileNameOf(name));
  }
}

function fileNameOf(name: string): string {
  return `${name}.yaml`;
}

function checkedAgent(agentId: string): string {
  return parseOrThrow(agentIdSchema, agentId, { what: 'agent id', code: 'AGENT_INVALID' });
}

function reserved(): RuntimeError {
  return new RuntimeError(
    'POLICY_RESERVED',
    `the rules of "${EVERY_AGENT}" are for every agent, and only people write them`,
    {
      category: 'permission',
      hint: `Edit ${fileNameOf(EVERY_AGENT)} in the folder of the policy yourself, or give the agent another name.`,
    },
  );
}

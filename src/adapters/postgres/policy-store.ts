/**
 * The rules that people have kept by an answer, in PostgreSQL: one row for each agent, for the workers of all machines.
 * What people write by hand stays in the files of a home, and stands before them.
 */
import * as z from 'zod';
import { isoTimeOf } from '../../actors/clock/iso-time.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { KeptRule, PolicyStore } from '../../actors/permission/permission-ports.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { agentId as agentIdSchema } from '../../machines/ids.ts';
import { checkRule, formatRule, parseRule } from '../../machines/permission/permission-rule.ts';
import type { PermissionRule } from '../../machines/permission/permission-rule.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { RevisedRows } from './revised-rows.ts';

interface PostgresPolicyStoreOptions {
  readonly database: PostgresDatabase;
  readonly clock: Pick<Clock, 'now'>;
  /**
   * What people have written on this machine. Its rules come first; what is removed is removed there too. Default:
   * nothing is.
   */
  readonly written?: Pick<PolicyStore, 'rules' | 'remove'> | undefined;
}

/** With files it names the rules for every agent, so it can be the name of none here either. */
const EVERY_AGENT = 'all';

const keptRules = z.array(
  z.strictObject({
    rule: z.string(),
    since: z.iso.datetime(),
    by: z.strictObject({ sessionId: z.string(), requestId: z.string() }),
  }),
);

type KeptRules = z.output<typeof keptRules>;

export function createPostgresPolicyStore(options: PostgresPolicyStoreOptions): PolicyStore {
  return new PostgresPolicyStore(options);
}

class PostgresPolicyStore implements PolicyStore {
  readonly #rows: RevisedRows;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #written: PostgresPolicyStoreOptions['written'];

  constructor({ database, clock, written }: PostgresPolicyStoreOptions) {
    this.#rows = new RevisedRows(database, 'policy');
    this.#clock = clock;
    this.#written = written;
  }

  async rules(agentId: string): Promise<readonly KeptRule[]> {
    const id = checkedAgent(agentId);
    // Read anew each time: a rule that forbids something counts from the moment it is kept, wherever that was.
    const [written = [], row] = await Promise.all([this.#written?.rules(id), this.#rows.load(id)]);
    return [...written, ...rulesIn(id, row?.body).map((kept) => keptRule(id, kept))];
  }

  async keep(agentId: string, rule: PermissionRule, { by }: Parameters<PolicyStore['keep']>[2]): Promise<void> {
    const text = formatRule(checkRule(rule));
    const id = changeableAgent(agentId);
    await this.#rows.change(id, (body) => {
      const before = rulesIn(id, body);
      if (before.some((kept) => kept.rule === text)) return { answer: undefined };
      const { sessionId, requestId } = by;
      return {
        answer: undefined,
        write: {
          body: JSON.stringify([
            ...before,
            { rule: text, since: isoTimeOf(this.#clock.now()), by: { sessionId, requestId } },
          ]),
        },
      };
    });
  }

  async remove(agentId: string, ruleText: string): Promise<boolean> {
    const text = formatRule(parseRule(ruleText));
    const id = changeableAgent(agentId);
    const wasKept = await this.#rows.change(id, (body) => {
      const before = rulesIn(id, body);
      const left = before.filter((kept) => kept.rule !== text);
      return left.length === before.length
        ? { answer: false }
        : { answer: true, write: { body: JSON.stringify(left) } };
    });
    const wasWritten = (await this.#written?.remove(id, text)) ?? false;
    return wasKept || wasWritten;
  }
}

function rulesIn(agentId: string, body: string | undefined): KeptRules {
  if (body === undefined) return [];
  try {
    return keptRules.parse(JSON.parse(body));
  } catch (cause) {
    throw unreadable(agentId, cause);
  }
}

function keptRule(agentId: string, { rule, since, by }: KeptRules[number]): KeptRule {
  try {
    return Object.freeze({ rule: parseRule(rule), since, by, isForEveryAgent: false });
  } catch (cause) {
    throw unreadable(agentId, cause);
  }
}

function unreadable(agentId: string, cause: unknown): RuntimeError {
  return new RuntimeError(
    'POLICY_INVALID',
    `the rules of "${agentId}" in the database cannot be relied on: ${messageOf(cause)}`,
    {
      category: 'permission',
      hint: 'They may have been kept by a newer version of wakechart; run that one. Nothing is allowed by itself until they can be read.',
      details: { agentId },
      cause,
    },
  );
}

function checkedAgent(agentId: string): string {
  return parseOrThrow(agentIdSchema, agentId, { what: 'agent id', code: 'AGENT_INVALID' });
}

function changeableAgent(agentId: string): string {
  const id = checkedAgent(agentId);
  if (id !== EVERY_AGENT) return id;
  throw new RuntimeError(
    'POLICY_RESERVED',
    `the rules of "${EVERY_AGENT}" are for every agent, and only people write them`,
    {
      category: 'permission',
      hint: 'Write them into the folder of the policy on each machine, or give the agent another name.',
    },
  );
}

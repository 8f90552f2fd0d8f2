/**
 * `permission_describe`: how the calls of a session are judged, and what one call would meet, by the very gate that it
 * would have to pass.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { humansOf, ownBounds } from '../../machines/permission/handed-down.ts';
import { formatRule } from '../../machines/permission/permission-rule.ts';
import { permissionDescribeDefinition, waitingPermissions } from '../../machines/permission/permission-report.ts';
import type { PermissionDescribeInput, PermissionReport } from '../../machines/permission/permission-report.ts';
import { readToolInput } from '../../machines/turn/tool-schema.ts';
import { unknownTool } from '../turn/tool-executor.ts';
import type { Tool, ToolContext, HookedWake } from '../turn/tool.ts';
import { CallGate } from '../wake/call-gate.ts';
import type { CheckedCall, GatePorts } from '../wake/call-gate.ts';

/** The same as those of the wakes, so that what is told is what is done. */
export type PermissionToolsOptions = GatePorts;

export function createPermissionTools(options: PermissionToolsOptions): readonly Tool[] {
  const describe: Tool<PermissionDescribeInput> = {
    definition: permissionDescribeDefinition,
    async run({ call }, context) {
      const { wake } = context;
      if (wake === undefined)
        throw new RuntimeError('TOOL_NEEDS_WAKE', 'expected to be called in a wake of a session', {
          category: 'conflict',
          hint: 'Tools about the session itself are run by its wakes only.',
        });
      const report = await reportOf(wake, options);
      return call === undefined ? report : { ...report, call: await tried(call, { wake, context, options }) };
    },
  };
  return [describe];
}

async function reportOf(wake: HookedWake, options: PermissionToolsOptions): Promise<PermissionReport> {
  const state = wake.state();
  const { permission } = wake.agent.definition;
  const { mode, ask, deny, tools, withoutTools } = ownBounds(state, permission);
  return {
    mode,
    humans: humansFor(wake, options),
    rules: { allow: [...permission.allow], ask: [...ask], deny: [...deny] },
    session: [...state.sessionRules],
    ...(await policyOf(state.agentId, options)),
    ...(tools === undefined ? {} : { onlyTools: [...tools] }),
    ...(withoutTools === undefined ? {} : { withoutTools: [...withoutTools] }),
    ...environmentOf(wake),
    waiting: waitingPermissions(state),
  };
}

function environmentOf({ agent: { environment } }: HookedWake): Pick<PermissionReport, 'environment'> {
  if (environment === undefined) return {};
  const { definition, sandbox } = environment;
  return {
    environment: { id: definition.environmentId, sandbox: sandbox?.kind ?? 'off', network: definition.network },
  };
}

async function policyOf(
  agentId: string,
  { policy }: PermissionToolsOptions,
): Promise<Pick<PermissionReport, 'policy' | 'policyProblem'>> {
  try {
    return { policy: ((await policy?.rules(agentId)) ?? []).map(({ rule }) => formatRule(rule)) };
  } catch (error) {
    return { policyProblem: messageOf(error) };
  }
}

interface Trial {
  readonly wake: HookedWake;
  readonly context: ToolContext;
  readonly options: PermissionToolsOptions;
}

/** Nothing of the call runs, and what the gate would ask is not asked. */
async function tried(
  { name, input }: NonNullable<PermissionDescribeInput['call']>,
  { wake, context, options }: Trial,
): Promise<NonNullable<PermissionReport['call']>> {
  const { agent } = wake;
  const tool = agent.tools.get(name);
  if (tool === undefined) return { decision: 'invalid', because: unknownTool(name, agent.tools) };
  try {
    const reading = readToolInput(tool.definition, input);
    if (!reading.ok) return { decision: 'invalid', because: reading.reason };
    const subject = tool.subject?.(reading.input, context) ?? { kind: 'tool' as const };
    const checked: CheckedCall = {
      call: { callId: context.callId, name, input },
      tool,
      subject,
      question: undefined,
      subflow: undefined,
    };
    const gate = new CallGate({
      ...options,
      humans: humansFor(wake, options),
      agent,
      session: context.session,
      newId: () => 'untold',
      onTrouble: ignore,
    });
    return toldOf(await gate.decide(checked, wake.state()));
  } catch (error) {
    return { decision: 'invalid', because: `The tool "${name}" cannot be called like this: ${messageOf(error)}` };
  }
}

function toldOf(decision: Awaited<ReturnType<CallGate['decide']>>): NonNullable<PermissionReport['call']> {
  switch (decision.kind) {
    case 'run':
      return {
        decision: 'run',
        because: `${ALLOWED[decision.allowedBy.kind]}${decision.allowedBy.rule === undefined ? '' : `: ${decision.allowedBy.rule}`}`,
      };
    case 'deny':
      return { decision: 'deny', because: decision.because };
    case 'ask': {
      const { request } = decision;
      if (request.type !== 'permission.requested') return { decision: 'ask', because: 'a person would be asked' };
      return {
        decision: 'ask',
        because: request.data.because,
        ...(request.data.rules === undefined ? {} : { wouldBeAllowed: request.data.rules }),
      };
    }
  }
}

const ALLOWED = {
  preapproved: 'the agent may run whatever does not always ask',
  read_only: 'the tool changes nothing',
  safe_command: 'it only reads',
  session_rule: 'a person allowed it in this session',
  policy: 'a rule allows it',
  person: 'a person has allowed it',
} as const;

function humansFor(wake: HookedWake, { humans }: PermissionToolsOptions): PermissionReport['humans'] {
  return humansOf(wake.state()) ?? humans;
}

function ignore(): void {
  // Nothing is kept, so nothing can fail to be kept.
}

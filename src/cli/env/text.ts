/** An environment in a few words. That nothing is shut in is always said. */
import type { EnvironmentDefinition } from '../../machines/environment/environment-definition.ts';
import type { SessionEventData } from '../../machines/session/session-event.ts';
import { printable } from '../terminal/text.ts';

type Entered = Pick<SessionEventData<'environment.entered'>, 'environmentId' | 'sandbox' | 'network'>;

/** In which a wake worked. */
export function environmentText({ environmentId, sandbox, network }: Entered): string {
  return `${printable(environmentId)} (sandbox: ${sandbox}${sandbox === 'off' ? '' : `, network: ${networkText(network)}`})`;
}

/** As it is declared. */
export function isolationText({
  environmentId,
  sandbox,
  network,
}: Pick<EnvironmentDefinition, 'environmentId' | 'sandbox' | 'network'>): string {
  return `${printable(environmentId)} (sandbox: ${sandbox}${sandbox === 'off' ? '' : `, network: ${networkText(network)}`})`;
}

/** Its fields for people, under their names in the file. Values of variables are left out. */
export function environmentFields(definition: EnvironmentDefinition): [string, string | undefined][] {
  const { description, sandbox, network, mounts, vaults, permission, budget, variables, quota, evaluation } =
    definition;
  const { check, judge } = evaluation;
  return [
    ['description', printable(description)],
    ['sandbox', sandbox],
    ['network', network],
    ...mounts.map(({ path, source, access }): [string, string] => [
      'mount',
      `${printable(path)} ${access === 'rw' ? 'to read and write' : 'to read'}: ${printable(source)}`,
    ]),
    ['vaults', vaults.join(', ')],
    ['permission', permission.mode],
    ...(['ask', 'deny'] as const).flatMap((effect) =>
      permission[effect].map((rule): [string, string] => [effect, printable(rule)]),
    ),
    ['budget', boundsText(budget)],
    ['passes', variables.pass.join(', ')],
    ['sets', Object.keys(variables.set).join(', ')],
    ['quota', boundsText(quota)],
    ['check', check === undefined ? undefined : `${printable(check.command)} (within ${check.timeoutSeconds} seconds)`],
    ['judge', judge === undefined ? undefined : printable(`${judge.provider}/${judge.model}`)],
  ];
}

function boundsText(bounds: object): string {
  return Object.entries(bounds)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
}

/** An open one is no network of the sandbox's own. */
function networkText(network: EnvironmentDefinition['network']): string {
  return network === 'open' ? "open, the host's own with its loopback" : network;
}

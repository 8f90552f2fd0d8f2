/** The services of deploy/compose.yaml as containers, started as `docker compose up` starts them. */
import type { Containers } from './containers.ts';
import { composition } from './deployed.ts';
import type { Condition, Service } from './deployed.ts';

const NETWORK = 'wakechart_default';

export class Composed {
  readonly #services = composition().services;

  readonly containers: Containers;
  readonly variables: Readonly<Record<string, string>>;

  constructor(containers: Containers, variables: Readonly<Record<string, string>>) {
    this.containers = containers;
    this.variables = variables;
  }

  /** Starts every service without a profile and those with this one, each once what it depends on is there. */
  async up(profile: string): Promise<void> {
    await this.containers.podman('network', 'create', NETWORK);
    const started = new Set<string>();
    const start = async (name: string): Promise<void> => {
      if (started.has(name)) return;
      started.add(name);
      const service = this.#service(name);
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        await start(other);
        await this.#waitFor(other, condition);
      }
      for (const replica of this.names(name))
        await this.containers.podman('run', '--detach', '--name', replica, ...this.#words(name));
    };
    for (const [name, { profiles = [profile] }] of Object.entries(this.#services))
      if (profiles.includes(profile)) await start(name);
  }

  /** As `docker compose run --rm`. @returns what it printed */
  run(name: string, ...command: readonly string[]): Promise<string> {
    return this.containers.podman('run', '--rm', ...this.#words(name, command));
  }

  /** The containers of a service. */
  names(name: string): readonly string[] {
    const count = this.#service(name).deploy?.replicas ?? 1;
    return Array.from({ length: count }, (_, index) => `wakechart-${name}-${index + 1}`);
  }

  #service(name: string): Service {
    const service = this.#services[name];
    if (service === undefined) throw new Error(`expected a service ${name} in the composition`);
    return service;
  }

  async #waitFor(name: string, condition: Condition): Promise<void> {
    for (const container of this.names(name)) {
      if (condition === 'service_healthy') await this.containers.untilHealthy(container);
      else if ((await this.containers.podman('wait', container)) !== '0')
        throw new Error(`${container} failed: ${await this.containers.logOf(container)}`);
    }
  }

  #words(name: string, command?: readonly string[]): readonly string[] {
    const service = this.#service(name);
    const { environment = {}, volumes = [], ports = [], healthcheck } = service;
    return [
      ...['--pull', 'never', '--network', NETWORK, ...(command === undefined ? ['--network-alias', name] : [])],
      ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${this.#filled(value)}`]),
      ...volumes.flatMap((mount) => ['--volume', `wakechart_${mount}`]),
      // The port of this machine may be taken: any other one.
      ...(command === undefined ? ports.flatMap((port) => ['--publish', port.replace(/:\d+:/, '::')]) : []),
      ...(healthcheck?.disable === true ? ['--no-healthcheck'] : []),
      ...(healthcheck?.test === undefined ? [] : ['--health-cmd', checkOf(healthcheck.test)]),
      service.image,
      ...(command ?? service.command ?? []),
    ];
  }

  /** `${NAME:-default}` and `${NAME:?what to do}`. */
  #filled(text: string): string {
    return text.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
      const value = this.variables[name] ?? (kind === '-' ? rest : undefined);
      if (value === undefined) throw new Error(`${name}: ${rest}`);
      return value;
    });
  }
}

/** The check of a composition as podman takes it, which wants no CMD before the words of a program. */
function checkOf(test: readonly string[]): string {
  return JSON.stringify(test[0] === 'CMD' ? test.slice(1) : test);
}

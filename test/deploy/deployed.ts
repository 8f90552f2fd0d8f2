/** The files of `deploy/`, as what reads them understands them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DockerfileParser } from 'dockerfile-ast';
import type { Instruction } from 'dockerfile-ast';
import { parse } from 'yaml';

export const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
export const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));

export function textOf(name: string): string {
  return readFileSync(`${DEPLOY}${name}`, 'utf8');
}

export interface Image {
  readonly all: readonly Instruction[];
  /** Arguments of the last instruction of that name, whose forms are those of a list where it is one. */
  words(keyword: string): readonly string[];
  /** The lines of a shell that the RUN instructions hold. */
  readonly runs: readonly string[];
}

export function image(): Image {
  const all = DockerfileParser.parse(textOf('Dockerfile')).getInstructions();
  const lineOf = (instruction: Instruction): string =>
    (instruction.getArgumentsContent() ?? '').replaceAll(/\\\r?\n/g, ' ').trim();
  return {
    all,
    words(keyword) {
      const text = lineOf(all.findLast((each) => each.getKeyword() === keyword) ?? fail(keyword));
      const list = /\[.*\]$/.exec(text)?.[0];
      return list === undefined ? text.split(/\s+/) : (JSON.parse(list) as readonly string[]);
    },
    runs: all.filter((each) => each.getKeyword() === 'RUN').map(lineOf),
  };
}

function fail(keyword: string): never {
  throw new Error(`expected ${keyword} in the Dockerfile`);
}

/** What others wait for before they start. */
export type Condition = 'service_healthy' | 'service_completed_successfully';

export interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: Condition }>>;
  readonly stop_grace_period?: string;
  readonly profiles?: readonly string[];
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean };
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly deploy?: { readonly replicas?: number };
}

export interface Composition {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export function composition(): Composition {
  return parse(textOf('compose.yaml'), { merge: true }) as Composition;
}

/** The values of one setting of a unit. */
export function settingOf(unit: string, name: string): readonly string[] {
  return textOf(unit)
    .split('\n')
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1));
}

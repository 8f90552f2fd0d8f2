/** What a vault is: secrets by name, where each of them is, and where it may be put. Written as YAML. */
import * as z from 'zod';
import { environmentId } from '../ids.ts';
import { hostPattern } from './host-pattern.ts';

/** Characters of a vault file. */
export const MAX_VAULT_FILE_CHARACTERS = 256_000;
/** Bytes of one secret. */
export const MAX_SECRET_BYTES = 65_536;
/** What is shorter cannot be told from ordinary text, and so not be taken out of it. */
const MIN_SECRET_CHARACTERS = 8;

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

const SOURCES = ['env', 'file', 'command', 'value'] as const;

const secretDefinition = z
  .strictObject({
    /** A variable in the environment of the process that runs sessions. */
    env: z.string().regex(VARIABLE, 'expected the name of a variable').max(200).optional(),
    /** Absolute. A line end at its end does not count. */
    file: z
      .string()
      .regex(/^\/[^\0]+$/, 'expected an absolute path')
      .max(4_096)
      .optional(),
    /** What a program prints, run without a shell. A line end at its end does not count. */
    command: z.array(z.string().min(1).max(10_000)).min(1).max(50).optional(),
    /** The secret itself. */
    value: z.string().max(MAX_SECRET_BYTES).optional(),
    /** For people, and for agents that may use it. */
    description: z.string().trim().max(500).optional(),
    /** Where it may be sent in a header. None: nowhere. */
    hosts: z.array(hostPattern).max(50).default([]),
    /** Whether commands and programs may have it in their environment. */
    commands: z.boolean().default(false),
  })
  .superRefine((secret, context) => {
    const given = SOURCES.filter((source) => secret[source] !== undefined);
    if (given.length !== 1)
      context.addIssue({
        code: 'custom',
        message: `expected exactly one of ${SOURCES.join(', ')}, received ${given.length === 0 ? 'none' : given.join(' and ')}`,
      });
  });

/** As part of a reference, `vault/secret`. */
const secretName = environmentId;

export const vaultFile = z.strictObject({
  /** For people. */
  description: z.string().trim().max(1_000).default(''),
  /** By the name that follows the vault in `vault/secret`. */
  secrets: z
    .record(secretName, secretDefinition)
    .refine((secrets) => Object.keys(secrets).length <= 200, 'expected at most 200 secrets'),
});

export type SecretDefinition = Readonly<z.output<typeof secretDefinition>>;

export interface VaultDefinition extends Readonly<z.output<typeof vaultFile>> {
  readonly name: string;
}

/** Where the secret is, for people. */
export function sourceOf({ env, file, command, value }: SecretDefinition): string {
  if (env !== undefined) return `the variable ${env}`;
  if (file !== undefined) return `the file ${file}`;
  if (command !== undefined) return `what ${JSON.stringify(command[0])} prints`;
  return value === undefined ? 'nowhere' : 'its value in the vault';
}

/** A word of the language: it stands in every other text, and in our own words too. */
const ORDINARY = /^[A-Za-z_. -]{1,20}$/;

/** Why a value is no secret that could be kept; undefined when it is one. Never says anything of it. */
export function valueProblem(value: string): string | undefined {
  const trimmed = value.trim();
  if (value === '') return 'it is empty';
  if (trimmed.length < MIN_SECRET_CHARACTERS || trimmed.replaceAll(/\s/g, '').length < MIN_SECRET_CHARACTERS)
    return `it has fewer than ${MIN_SECRET_CHARACTERS} characters, and could not be taken out of what programs print`;
  if (ORDINARY.test(trimmed)) return 'it is an ordinary word or two, and could not be taken out of what programs print';
  if (value.includes('\0')) return 'there is a NUL character in it';
  return new TextEncoder().encode(value).length > MAX_SECRET_BYTES
    ? `it has more than ${MAX_SECRET_BYTES} bytes`
    : undefined;
}

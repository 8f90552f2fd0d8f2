/** The options by which a command is checked while it runs, or recorded. */
import type { Command } from 'commander';
import { nonEmpty, usageError, wholeNumber } from '../usage.ts';

const PORTS = { min: 0, max: 65_535 } as const;

/** As commander reads them. */
export interface InspectionWords {
  /** `true` where no port was named. */
  readonly inspect?: number | true;
  readonly inspectHold?: boolean;
  readonly record?: string;
}

export const addressPort = wholeNumber(PORTS);

export function addInspectionOptions(command: Command, { canHold }: { readonly canHold: boolean }): Command {
  command.option(
    '--inspect [port]',
    'open the inspector on this machine and say where (default: a free port); a port is written --inspect=PORT',
    addressPort,
  );
  if (canHold)
    command.option('--inspect-hold', 'with --inspect: stay after the end until interrupted, also without a terminal');
  return command.option(
    '--record <file>',
    'write an inspection log of what the actors do, with the logs of their sessions, to be opened with "wakechart inspect FILE"; *.gz is compressed',
    nonEmpty,
  );
}

/** @throws a usage error for a hold of nothing */
export function checkInspectionWords({ inspect, inspectHold }: InspectionWords): void {
  if (inspectHold === true && inspect === undefined)
    throw usageError(
      'expected --inspect with --inspect-hold: there is nothing to check otherwise',
      'Give both: --inspect --inspect-hold',
    );
}
